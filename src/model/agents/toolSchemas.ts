/**
 * The input and output of the tools for agents. `toolTable.ts` has the words, which the extension doesn't need;
 * `model/agents/tools/runTool.ts` checks each call by these.
 */
import * as z from 'zod/mini';
import { isBranchId, isComputeId, isId } from '../../api/records/ids.ts';
import { sizeProblem } from '../../api/records/sizes.ts';

export interface ToolSchema<Input, Output> {
  readonly input: z.ZodMiniType<Input>;
  readonly output: z.ZodMiniType<Output>;
  /** Fields of the output that may contain a password, because the caller asked for it. All others are redacted. */
  readonly secretFields?: readonly string[];
}

const text = z.string();
const number = z.number();
const flag = z.boolean();
const optionalText = z.optional(text);
const optionalNumber = z.optional(number);
const optionalFlag = z.optional(flag);

const projectId = text.check(z.refine(isId, 'must be the id of a project'));
const branchId = text.check(z.refine(isBranchId, 'must be the id of a branch (br-…)'));
const computeId = text.check(z.refine(isComputeId, 'must be the id of a compute (ep-…)'));
const onCompute = { projectId, computeId };
const onBranch = { projectId, branchId };

/** The table says the range in words: zod's own checks of numbers would cost 2 KB. */
const wholeNumber = (min: number, max: number) =>
  number.check(
    z.refine(
      (value) => Number.isInteger(value) && value >= min && value <= max,
      `must be a whole number from ${min} to ${max}`,
    ),
  );

const compute = {
  computeId: text,
  name: optionalText,
  branchId: text,
  type: text,
  state: text,
  minCu: optionalNumber,
  maxCu: optionalNumber,
};
const project = {
  projectId: text,
  name: optionalText,
  region: optionalText,
  postgresVersion: optionalNumber,
};
const computeChange = z.object({
  changed: flag,
  pending: optionalFlag,
  restarts: optionalFlag,
  state: optionalText,
  minCu: optionalNumber,
  maxCu: optionalNumber,
});
const branchChange = z.object({ branchId: text, pending: optionalFlag, note: optionalText });

const COMPUTE_TOOLS = {
  listComputes: {
    input: z.strictObject({ project: optionalText }),
    output: z.object({
      projects: z.array(
        z.object({
          ...project,
          computes: z.array(z.object(compute)),
          computesLeftOut: optionalNumber,
          problem: optionalText,
        }),
      ),
      projectsLeftOut: optionalNumber,
    }),
  },
  getCompute: {
    input: z.strictObject(onCompute),
    output: z.object({
      ...compute,
      project: z.object(project),
      host: text,
      pooledHost: optionalText,
      maxConnections: optionalNumber,
      autosuspend: text,
      postgresSettings: z.record(text, text),
      lastActive: optionalText,
      createdAt: optionalText,
    }),
  },
  startCompute: { input: z.strictObject(onCompute), output: computeChange },
  suspendCompute: { input: z.strictObject(onCompute), output: computeChange },
  restartCompute: { input: z.strictObject(onCompute), output: computeChange },
  resizeCompute: {
    input: z
      .strictObject({ ...onCompute, minCu: number, maxCu: optionalNumber })
      .check(
        z.refine(
          ({ minCu: min, maxCu: max = min }) => sizeProblem({ min, max }) === undefined,
          'must have sizes that exist, and no minimum above the maximum',
        ),
      ),
    output: computeChange,
  },
};

const BRANCH_TOOLS = {
  listBranches: {
    input: z.strictObject({ projectId: z.optional(projectId) }),
    output: z.object({
      projectId: text,
      branches: z.array(
        z.object({
          branchId: text,
          name: text,
          parentId: optionalText,
          state: text,
          isDefault: flag,
          isProtected: flag,
          isYours: flag,
          expiresAt: optionalText,
        }),
      ),
      branchesLeftOut: optionalNumber,
    }),
  },
  createBranch: {
    input: z.strictObject({
      projectId: z.optional(projectId),
      parentId: z.optional(branchId),
      name: optionalText,
      hours: z.optional(wholeNumber(1, 720)),
      database: optionalText,
      envFile: optionalText,
      envVariable: optionalText,
      includePassword: optionalFlag,
    }),
    output: z.object({
      projectId: text,
      branchId: text,
      name: text,
      parentId: optionalText,
      computeId: text,
      host: text,
      database: text,
      role: text,
      expiresAt: text,
      writtenTo: optionalText,
      connectionString: optionalText,
      note: optionalText,
    }),
    secretFields: ['connectionString'],
  },
  compareSchema: {
    input: z.strictObject({ ...onBranch, otherBranchId: z.optional(branchId), database: optionalText }),
    output: z.object({ database: text, differs: flag, diff: text, truncated: optionalFlag }),
  },
  resetBranch: { input: z.strictObject(onBranch), output: branchChange },
  deleteBranch: { input: z.strictObject(onBranch), output: branchChange },
};

const SQL_TOOLS = {
  runSql: {
    input: z.strictObject({
      ...onBranch,
      sql: text,
      database: optionalText,
      write: optionalFlag,
      maxRows: z.optional(wholeNumber(1, 1000)),
    }),
    output: z.object({
      columns: z.array(text),
      rows: z.array(z.array(z.nullable(text))),
      truncated: optionalFlag,
      command: optionalText,
    }),
  },
};

/** Only tools that have a function in `model/agents/tools/runTool.ts`. */
const ALL = { ...COMPUTE_TOOLS, ...BRANCH_TOOLS, ...SQL_TOOLS };

type All = typeof ALL;
export type ToolName = keyof All;
export type ToolInput<N extends ToolName> = z.infer<All[N]['input']>;
export type ToolOutput<N extends ToolName> = z.infer<All[N]['output']>;

export const TOOL_SCHEMAS: { readonly [N in ToolName]: ToolSchema<ToolInput<N>, ToolOutput<N>> } = ALL;

export const isToolName = (name: string): name is ToolName => Object.hasOwn(TOOL_SCHEMAS, name);
