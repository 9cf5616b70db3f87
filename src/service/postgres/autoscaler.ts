/**
 * Scales a compute within its range (section 2.7): as many compute units as queries run at once, up at the first sign of
 * load, down when it stayed lower for a while. A new size reaches the running server by a reload, so nobody is
 * disconnected (section 3.2, rule 3). What follows from it in Postgres is how much cache the planner counts on.
 */
import type Client from 'pg/lib/client.js';
import { COMPUTE_SIZES } from '../../api/records/sizes.ts';
import type { ComputeSpec } from '../core/computeEngine.ts';
import type { Postmaster } from './process/postmaster.ts';
import { writeSizeFile } from './config/sizeFile.ts';
import { connectAsSuperuser } from './network/superuser.ts';

/** How often the load is looked at. Milliseconds. */
const INTERVAL = 1000;
/** Looks in a row that must find less load before the compute shrinks. */
const LOOKS_BEFORE_SHRINKING = 5;

const RUNNING_QUERIES = `select pg_catalog.count(*) from pg_catalog.pg_stat_activity
  where backend_type operator(pg_catalog.=) 'client backend' and state operator(pg_catalog.=) 'active'
    and pid operator(pg_catalog.<>) pg_catalog.pg_backend_pid()`;

export interface AutoscalerOptions {
  readonly server: Postmaster;
  readonly range: Pick<ComputeSpec, 'minCu' | 'maxCu'>;
  readonly superuserPassword: string;
  /** Client connections now: without any there is no load to look for. */
  readonly open: () => number;
  readonly log: (line: string) => void;
}

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  #timer: NodeJS.Timeout | undefined;
  #client: Client | undefined;
  #current: number;
  #lowerLooks = 0;

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
    this.#timer = setTimeout(() => void this.#look(), INTERVAL);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    try {
      const load = this.#options.open() > 0 ? await this.#runningQueries() : 0;
      if (this.#timer === undefined) return;
      this.#follow(load);
    } catch (error) {
      // A server on its way out answers no questions; one that has no connection left for us may do later.
      this.#options.log(`The load is not known: ${String(error)}`);
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
    this.#lowerLooks = wanted < this.#current ? this.#lowerLooks + 1 : 0;
    if (wanted === this.#current || (wanted < this.#current && this.#lowerLooks < LOOKS_BEFORE_SHRINKING))
      return;
    log(`Scaled from ${this.#current} to ${wanted} CU`);
    this.#current = wanted;
    writeSizeFile(server.dataDir, wanted);
    server.reload();
  }
}

/** The smallest size of the range with a vCPU for every running query, else its largest. */
export function sizeFor(runningQueries: number, range: Pick<ComputeSpec, 'minCu' | 'maxCu'>): number {
  const sizes = COMPUTE_SIZES.filter(({ cu }) => cu >= range.minCu && cu <= range.maxCu);
  return (sizes.find(({ vcpu }) => vcpu >= runningQueries) ?? sizes.at(-1))?.cu ?? range.maxCu;
}
