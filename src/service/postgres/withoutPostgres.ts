/** Engines with nothing behind the computes: the control plane works, and computes change their states. */
import {
  EngineError,
  type ComputeAddress,
  type ComputeEngine,
  type ComputeSpec,
} from '../core/computeEngine.ts';
import { freePorts } from './network/freePorts.ts';
import { Gateway } from './network/gateway.ts';

const FIRST_PORT = 2_000;
const LAST_PORT = 65_534;

/** For `--no-postgres`. No compute accepts connections. */
export class NoPostgres implements ComputeEngine {
  readonly pgVersion = undefined;
  readonly pooler: ComputeEngine['pooler'] = { available: true };
  #nextPort = 15_432;

  async open(): Promise<void> {}

  /** The caller skips addresses that are in use. */
  async allocateAddress(): Promise<ComputeAddress> {
    const port = this.#nextPort;
    this.#nextPort = port + 2 > LAST_PORT ? FIRST_PORT : port + 2;
    return { port, poolerPort: port + 1 };
  }

  async attach(_compute: ComputeSpec): Promise<void> {}

  async start(): Promise<void> {}

  async suspend(): Promise<void> {}

  async applyConfig(): Promise<void> {}

  async remove(_computeId: string): Promise<void> {}

  async createBranch(): Promise<void> {}

  async restoreBranch(): Promise<void> {}

  async deleteBranch(): Promise<void> {}

  async ownerLogin(): Promise<undefined> {}

  async login(): Promise<undefined> {
    throw new EngineError('The service runs without Postgres: there is nothing to connect to.');
  }

  async close(): Promise<void> {}
}

/** For a machine without a usable Postgres. A client that connects to a compute gets the reason as a Postgres error. */
export class PostgresMissing extends NoPostgres {
  override readonly pooler: ComputeEngine['pooler'];
  readonly #reason: string;
  readonly #gateways = new Map<string, { readonly address: ComputeAddress; readonly gateway: Gateway }>();

  constructor(reason: string) {
    super();
    this.#reason = reason;
    this.pooler = { available: false, reason };
  }

  override async allocateAddress(): Promise<ComputeAddress> {
    const taken = [...this.#gateways.values()].flatMap(({ address }) => [address.port, address.poolerPort]);
    return freePorts(new Set(taken));
  }

  override async attach({ id, address }: ComputeSpec): Promise<void> {
    if (this.#gateways.has(id)) return;
    const gateway = await Gateway.listen(address.port, {
      reach: async () => {
        throw new EngineError(this.#reason);
      },
      running: () => undefined,
      activity: () => undefined,
    });
    this.#gateways.set(id, { address, gateway });
  }

  override async remove(computeId: string): Promise<void> {
    await this.#gateways.get(computeId)?.gateway.close();
    this.#gateways.delete(computeId);
  }

  override async createBranch(): Promise<void> {
    throw new EngineError(this.#reason);
  }

  override async restoreBranch(): Promise<void> {
    throw new EngineError(this.#reason);
  }

  override async login(): Promise<undefined> {
    return undefined;
  }

  override async close(): Promise<void> {
    await Promise.all([...this.#gateways.keys()].map(async (id) => this.remove(id)));
  }
}
