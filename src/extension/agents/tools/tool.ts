/**
 * A tool for agents is one object: its words and hints for the model, the schemas of its input and output, and its function.
 * A model reads every word with each request, so the words are few.
 */
import * as z from 'zod/mini';
import { isBranchId, isId } from '../../../api/records/ids.ts';
import type { ToolCall } from './toolCall.ts';

/** MCP's tool annotations. */
interface ToolHints {
  readonly readOnlyHint: boolean;
  /** Whether data or connections may be lost. */
  readonly destructiveHint: boolean;
  /** Whether a second call with the same input changes nothing more. */
  readonly idempotentHint: boolean;
  /** Whether a call reaches more than the databases of the account. */
  readonly openWorldHint: false;
}

const CLOSED = { openWorldHint: false } as const;

/** The hints of a tool that only reads. */
export const READING_HINTS: ToolHints = {
  ...CLOSED,
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
};
/** The hints of a tool that adds something with each call. */
export const ADDING_HINTS: ToolHints = {
  ...CLOSED,
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
};
/** The hints of a tool that ends connections or replaces data. */
export const INTERRUPTING_HINTS: ToolHints = {
  ...CLOSED,
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
};

/** What a model reads about a tool, and which of its output may be secret. */
export interface ToolWords {
  readonly title: string;
  readonly description: string;
  readonly hints: ToolHints;
  /** Fields of the output that may contain a password, because the caller asked for it. Known secrets are hidden in all others. */
  readonly secretFields?: readonly string[];
}

type Input = z.ZodMiniType;
type Output = z.ZodMiniType<object>;

export interface Tool<I extends Input = Input, O extends Output = Output> extends ToolWords {
  readonly input: I;
  readonly output: O;
  /** Whether a call with this input changes nothing, for tools that read and change. */
  readonly onlyReads?: (input: Readonly<Record<string, unknown>>) => boolean;
  /**
   * Runs the tool, after the input is checked. Returns only fields that the output describes.
   * @throws {Error} with a sentence for the model
   */
  readonly run: (call: ToolCall<unknown>) => Promise<object>;
}

interface ToolDefinition<I extends Input, O extends Output> extends Omit<Tool<I, O>, 'run'> {
  /** @throws {Error} with a sentence for the model */
  readonly run: (call: ToolCall<z.infer<I>>) => Promise<z.infer<O>>;
}

export const defineTool = <I extends Input, O extends Output>(tool: ToolDefinition<I, O>): Tool<I, O> => ({
  ...tool,
  run: async (call) => {
    const parsed = tool.input.safeParse(call.input ?? {});
    if (parsed.error !== undefined) throw new Error(inputProblem(parsed.error));
    return tool.output.parse(await tool.run({ ...call, input: parsed.data }));
  },
});

/** Says what is wrong with an input, such as `computeId must be the id of a compute (ep-…).` */
function inputProblem({ issues: [issue] }: z.core.$ZodError): string {
  const field = issue?.path.join('.') || 'The input';
  if (issue?.code === 'unrecognized_keys') return `Unknown input ${issue.keys.join(', ')}.`;
  if (issue?.code === 'invalid_type') return `${field} must be of type ${issue.expected}.`;
  return `${field} ${issue?.message}.`;
}

/** Makes a field optional, and describes it because its name doesn't say enough. */
export const optionalField = <T extends z.ZodMiniType>(schema: T, description: string) =>
  z.optional(schema.check(z.describe(description)));

export const projectIdSchema = z.string().check(z.refine(isId, 'must be the id of a project'));
export const branchIdSchema = z.string().check(z.refine(isBranchId, 'must be the id of a branch (br-…)'));

/**
 * Returns a schema for whole numbers. The range is only in the text of the description: zod's own checks of numbers would cost 2
 * KB.
 */
export const wholeNumber = (min: number, max: number) =>
  z
    .number()
    .check(
      z.refine(
        (value) => Number.isInteger(value) && value >= min && value <= max,
        `must be a whole number from ${min} to ${max}`,
      ),
    );

/** The parameter that limits the bytes of a result, see `MAX_OUTPUT`. */
export const maxBytesSchema = optionalField(wholeNumber(1000, 200_000), 'Of the result, default 9000.');

/** The parameter that continues a list. */
export const itemsToSkipSchema = optionalField(wholeNumber(0, 1_000_000), 'How many to leave out first.');

/** Fields of an output that may leave something out. */
export const truncationFields = { truncated: z.optional(z.boolean()), note: z.optional(z.string()) };

/** @param left how many come after the `shown` ones */
export const skipNote = (left: number | undefined, shown: number) =>
  left === undefined ? {} : { truncated: true, note: `For more, set skip to ${shown}.` };

/** Joins the notes of a result. @returns undefined without a note */
export const joinNotes = (...notes: readonly (string | false | undefined)[]): string | undefined =>
  notes.filter((note) => typeof note === 'string').join(' ') || undefined;
