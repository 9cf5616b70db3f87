import type { Event } from '../../../base/event.ts';
import type { BranchRef } from '../../account/refs.ts';
import type { Session } from '../../account/session.ts';
import type { TreeNode } from './nodes.ts';

/** Where the env files of this window point to. */
export interface EnvTargets {
  readonly states: readonly { readonly current: BranchRef | undefined }[];
  readonly onDidChange: Event<void>;
}

/** The branches of the connected account that env files of this window point to. */
export class BranchesInUse {
  readonly #session: Session;
  readonly #targets: EnvTargets;

  constructor(session: Session, targets: EnvTargets) {
    this.#session = session;
    this.#targets = targets;
  }

  has(node: TreeNode): boolean {
    return node.kind === 'branch' && this.#ids.includes(node.branchId);
  }

  readonly onDidChange: Event<void> = (listener) => {
    let before = '';
    return this.#targets.onDidChange(() => {
      const ids = this.#ids.join();
      if (ids === before) return;
      before = ids;
      listener();
    });
  };

  get #ids(): readonly string[] {
    const account = this.#session.connection?.accountId;
    const targets = this.#targets.states.flatMap(({ current }) => current ?? []);
    return targets.filter((target) => target.account === account).map(({ branchId }) => branchId);
  }
}
