import type { ToolName } from '../../src/extension/agents/tools/toolTable.ts';
import type { ToolCall } from './model.ts';

export interface Ids {
  readonly projectId: string;
  readonly branchId: string;
  readonly computeId: string;
}

/** Its rows are more than a result has. The first value of each is one that no other text contains. */
const LONG_SQL = `SELECT md5(n::text), repeat('a "word" ü ', 10) FROM generate_series(1, 900) n`;

/**
 * A walk through all tools, on a branch of the agent if the client lets it create one, and then a result as long as they get.
 * @param ids the ids of a project, for a client that doesn't
 * @param adds what the client adds to the input of each tool
 */
export function callsOf({ projectId, branchId, computeId }: Ids, adds: object = {}): readonly ToolCall[] {
  /** @param id finds it in the answer of `createBranch` */
  const own = (answers: readonly string[], id: RegExp) => id.exec(answers[1] ?? '')?.[0];
  const branch = (input: object) => (answers: readonly string[]) => ({
    projectId,
    branchId: own(answers, /\bbr-[a-z]+-[a-z]+-\d+/) ?? branchId,
    ...input,
  });
  const compute = (input: object) => (answers: readonly string[]) => ({
    projectId,
    computeId: own(answers, /\bep-[a-z]+-[a-z]+-\d+/) ?? computeId,
    ...input,
  });
  const inputs: Record<ToolName, ToolCall['input']> = {
    listComputes: () => adds,
    createBranch: () => ({ projectId, hours: 1, ...adds }),
    getCompute: compute(adds),
    startCompute: compute(adds),
    resizeCompute: compute({ minCu: 1, ...adds }),
    restartCompute: compute(adds),
    suspendCompute: compute(adds),
    listBranches: () => ({ projectId, ...adds }),
    rehearse: () => ({ projectId, branchId, sql: 'CREATE TABLE trial (id int)', ...adds }),
    runSql: branch({ sql: 'CREATE TABLE kept (id int)', write: true, ...adds }),
    readSql: branch({ sql: 'SELECT count(*) FROM kept', ...adds }),
    compareSchema: branch(adds),
    undo: branch(adds),
    resetBranch: branch(adds),
    deleteBranch: branch(adds),
  };
  const long = { projectId, branchId, sql: LONG_SQL, maxRows: 1000, ...adds };
  return [
    ...Object.entries(inputs).map(([tool, input]) => ({ tool, input })),
    { tool: 'readSql', input: () => long },
  ];
}
