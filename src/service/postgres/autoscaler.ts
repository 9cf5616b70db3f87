/**
 * Scales a compute within its range (section 2.7) by the number of running queries: up at once, down after a few seconds
 * of lower load. The server reloads the new size, so no client is disconnected (section 3.2, rule 3). In Postgres, the
 * size determines how much cache the planner expects.
 */
import type Client from 'pg/lib/client.js';
import { COMPUTE_SIZES } from '../../api/records/sizes.ts';
import type { ComputeSpec } from '../core/computeEngine.ts';
import type { Postmaster } from './process/postmaster.ts';
import { writeSizeFile } from './config/settings.ts';
import { connectAsSuperuser } from './network/superuser.ts';

/** Between two checks of the load. Milliseconds. */
const INTERVAL = 1000;
/** Successive checks that must find less load before the compute shrinks. */
const CHECKS_BEFORE_SHRINKING = 5;

const RUNNING_QUERIES = `select pg_catalog.count(*) from pg_catalog.pg_stat_activity
  where backend_type operator(pg_catalog.=) 'client backend' and state operator(pg_catalog.=) 'active'
    and pid operator(pg_catalog.<>) pg_catalog.pg_backend_pid()`;

export interface AutoscalerOptions {
  readonly server: Postmaster;
  readonly range: Pick<ComputeSpec, 'minCu' | 'maxCu'>;
  readonly superuserPassword: string;
  /** The number of client connections. Without any, the load is not checked. */
  readonly open: () => number;
  readonly log: (line: string) => void;
}

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  #timer: NodeJS.Timeout | undefined;
  #client: Client | undefined;
  #current: number;
  #lowerChecks = 0;

  constructor(options: AutoscalerOptions) {
    this.#options = options;
    this.#current = options.range.minCu;
    this.#next();
    void options.server.ended.then(() => this.stop());
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#disconnect();
  }

  #disconnect(): void {
    void this.#client?.end().catch(() => undefined);
    this.#client = undefined;
  }

  #next(): void {
    this.#timer = setTimeout(() => void this.#check(), INTERVAL);
    this.#timer.unref();
  }

  async #check(): Promise<void> {
    try {
      const load = this.#options.open() > 0 ? await this.#runningQueries() : 0;
      if (this.#timer === undefined) return;
      this.#follow(load);
    } catch (error) {
      // The server may be stopping, or may have no free connection at the moment.
      this.#options.log(`Couldn't read the load: ${String(error)}`);
      this.#disconnect();
    }
    if (this.#timer !== undefined && !this.#options.server.isStopping) this.#next();
  }

  async #runningQueries(): Promise<number> {
    const { server, superuserPassword } = this.#options;
    this.#client ??= await connectAsSuperuser(server.address, superuserPassword);
    const { rows } = await this.#client.query<{ count: string }>(RUNNING_QUERIES);
    return Number(rows[0]?.count);
  }

  #follow(load: number): void {
    const { server, range, log } = this.#options;
    const wanted = sizeFor(load, range);
    this.#lowerChecks = wanted < this.#current ? this.#lowerChecks + 1 : 0;
    if (wanted === this.#current || (wanted < this.#current && this.#lowerChecks < CHECKS_BEFORE_SHRINKING))
      return;
    log(`Scaled from ${this.#current} to ${wanted} CU`);
    this.#current = wanted;
    writeSizeFile(server.dataDir, wanted);
    server.reload();
  }
}

/** The smallest size of the range with a vCPU for each running query, or else its largest. */
export function sizeFor(runningQueries: number, range: Pick<ComputeSpec, 'minCu' | 'maxCu'>): number {
  const sizes = COMPUTE_SIZES.filter(({ cu }) => cu >= range.minCu && cu <= range.maxCu);
  return (sizes.find(({ vcpu }) => vcpu >= runningQueries) ?? sizes.at(-1))?.cu ?? range.maxCu;
}
