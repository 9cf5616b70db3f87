/** What the calls for databases and roles of a branch share: the branch, its catalog in Postgres, and the operations. */
import type { ServiceClock } from '../../core/clock.ts';
import type { BranchCatalog, CatalogChange, ComputeEngine } from '../../core/computeEngine.ts';
import { notFound, unprocessable } from '../../core/httpError.ts';
import { isSystemDatabase, isSystemRole } from '../../core/systemNames.ts';
import type { ProjectState, Store } from '../../state/store.ts';
import type { BranchRecord, OperationRecord, StoredCompute } from '../../state/storedRecords.ts';
import { locked } from '../computeRecord.ts';
import { requirePostgres } from '../computes.ts';
import { newOperation, withStatus, type Operations } from '../operations.ts';

export interface CatalogOptions {
  readonly store: Store;
  /** Rejects with a message for people if there is no engine. */
  readonly engine: Promise<ComputeEngine>;
  readonly operations: Operations;
  readonly clock: ServiceClock;
}

/** A branch of a project, by its id. */
export interface BranchTarget {
  readonly project: ProjectState;
  readonly branchId: string;
}

export interface CatalogResult {
  readonly branch: BranchRecord;
  readonly catalog: BranchCatalog;
  readonly operations: readonly OperationRecord[];
}

export class BranchCatalogs {
  readonly #options: CatalogOptions;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  /** @throws {HttpError} 404 */
  async read(target: BranchTarget, passwordOf?: string): Promise<CatalogResult> {
    const branch = findBranch(target);
    const engine = await this.#postgres();
    return { branch, catalog: await engine.catalog(branch.id, passwordOf), operations: [] };
  }

  /** Resolves when Postgres has done it. @throws {HttpError} 404, or 423 while an operation runs on the branch's primary */
  async change(target: BranchTarget, change: CatalogChange): Promise<CatalogResult> {
    const branch = findBranch(target);
    const primary = primaryOf(target);
    const running = primary && this.#options.operations.on(primary.record.id);
    if (running !== undefined) throw locked(running);
    const engine = await this.#postgres();
    const catalog = await engine.changeCatalog(branch.id, change);
    return { branch, catalog, operations: this.#record(primary?.record.id) };
  }

  async #postgres(): Promise<ComputeEngine> {
    const engine = await this.#options.engine;
    requirePostgres(engine);
    return engine;
  }

  /** Records an operation on the primary that has already ended. A branch without a primary has none. */
  #record(computeId: string | undefined): readonly OperationRecord[] {
    const { store, clock } = this.#options;
    const compute = store.account.compute(computeId ?? '')?.record;
    if (compute === undefined) return [];
    const now = clock.now();
    const sequence = store.account.nextSequence();
    const operation = newOperation({ compute, step: { kind: 'sql' }, status: 'running', sequence, now });
    const record = withStatus(operation.record, 'finished', now);
    store.commit({ set: 'operation', value: { ...operation, record } });
    return [record];
  }
}

function findBranch({ project, branchId }: BranchTarget): BranchRecord {
  const branch = project.branches.get(branchId);
  if (branch === undefined) throw notFound(`branch in project ${project.record.id} with the id`, branchId);
  return branch;
}

const primaryOf = ({ project, branchId }: BranchTarget): StoredCompute | undefined =>
  [...project.computes.values()].find(
    ({ record }) => record.branch_id === branchId && record.type === 'read_write',
  );

/** @throws {HttpError} 404 */
export function findNamed<T extends { readonly name: string }>(
  kind: 'database' | 'role',
  items: readonly T[],
  name: string,
): T {
  const found = items.find((each) => each.name === name);
  if (found === undefined) throw notFound(`${kind} on this branch with the name`, name);
  return found;
}

/** @throws {HttpError} 422 */
export function requireUsable(kind: 'database' | 'role', name: string): void {
  const isReserved = kind === 'role' ? isSystemRole(name) : isSystemDatabase(name);
  if (isReserved) throw unprocessable(`The ${kind} name ${JSON.stringify(name)} is reserved.`);
}
