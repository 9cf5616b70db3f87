/** The compute that a command used last, which commands without an argument offer first. */
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Session } from '../account/session.ts';
import type { Memory } from '../window/memory.ts';
import { asComputeNode, type ComputeNode } from '../inventory/nodes.ts';

const ENTRY = 'hostedPostgres.lastCompute';

/** Remembers the compute that a command used last. */
export class LastCompute {
  readonly #session: Pick<Session, 'connection'>;
  readonly #memory: Memory;

  constructor(session: Pick<Session, 'connection'>, memory: Memory) {
    this.#session = session;
    this.#memory = memory;
  }

  /** Undefined if the last one belongs to another account. */
  get node(): ComputeNode | undefined {
    const { account, node } = fieldsOf(this.#memory.get(ENTRY));
    return account === this.#session.connection?.accountId ? asComputeNode(node) : undefined;
  }

  async remember(node: ComputeNode): Promise<void> {
    await this.#memory.update(ENTRY, { account: this.#session.connection?.accountId, node });
  }
}
