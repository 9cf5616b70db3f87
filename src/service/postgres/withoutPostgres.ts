/**
 * The engine of a machine without Postgres: the control plane works on, computes change their states, and whoever
 * connects to one is told, in a Postgres error, what to install.
 */
import type { ComputeAddress, ComputeEngine, ComputeSpec } from '../core/computeEngine.ts';
import { EngineError } from '../core/computeEngine.ts';
import { freePorts } from './network/freePorts.ts';
import { Gateway } from './network/gateway.ts';

export class WithoutPostgres implements ComputeEngine {
  readonly pgVersion = undefined;
  readonly pooler: ComputeEngine['pooler'];
  readonly #reason: string;
  readonly #gateways = new Map<string, { readonly address: ComputeAddress; readonly gateway: Gateway }>();

  constructor(reason: string) {
    this.#reason = reason;
    this.pooler = { available: false, reason };
  }

  async open(): Promise<void> {}

  async allocateAddress(): Promise<ComputeAddress> {
    const taken = [...this.#gateways.values()].flatMap(({ address }) => [address.port, address.poolerPort]);
    return freePorts(new Set(taken));
  }

  async attach({ id, address }: ComputeSpec): Promise<void> {
    if (this.#gateways.has(id)) return;
    const gateway = await Gateway.listen(address.port, {
      reach: async () => {
        throw new EngineError(this.#reason);
      },
      running: () => undefined,
      activity: () => {}, // Refused connections are no activity.
    });
    this.#gateways.set(id, { address, gateway });
  }

  async start(): Promise<void> {}

  async suspend(): Promise<void> {}

  async applyConfig(): Promise<void> {}

  async remove(computeId: string): Promise<void> {
    await this.#gateways.get(computeId)?.gateway.close();
    this.#gateways.delete(computeId);
  }

  async login(): Promise<undefined> {
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#gateways.keys()].map(async (id) => this.remove(id)));
  }
}
