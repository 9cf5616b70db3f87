/** Which tool a folder or file of SQL is for, or that it isn't known. */
import path from 'node:path';
import { isFlywayName, splitDirections } from './fileOrder.ts';
import {
  FLYWAY,
  UP_DOWN_RULES,
  UNKNOWN_RULES,
  PSQL_RULES,
  MIGRATION_TOOLS,
  type FolderRules,
  type MigrationTool,
} from './migrationTools.ts';
import type { CreateRefusal } from './refusal.ts';
import { fileExists } from './shownTools.ts';

/** A file or folder of migrations, before its tool is known. */
export interface FoundMigrations {
  readonly folder: string;
  /** The texts by the name of the file in the folder. */
  readonly texts: ReadonlyMap<string, string>;
  /** The tools that the project uses. */
  readonly shown: readonly MigrationTool[];
  readonly refuse: CreateRefusal;
}

interface Recognized {
  /** Undefined if the tool isn't known. */
  readonly tool?: MigrationTool;
  readonly rules: FolderRules;
  /** The names of the files that don't undo others. */
  readonly forward: readonly string[];
}

/** A file that is given by its own name runs as with psql, unless a line in it is for a tool. */
export function recognizeFile(found: FoundMigrations): Recognized {
  const forward = [...found.texts.keys()];
  const tool = forward.some(isFlywayName) ? FLYWAY : findToolByMark(found);
  return tool === undefined
    ? { rules: PSQL_RULES, forward }
    : { tool, rules: requireRules(found, tool), forward };
}

/** @throws {Error} if it can be for several tools */
export async function recognizeFolder(found: FoundMigrations): Promise<Recognized> {
  const { folder, texts, refuse } = found;
  const names = [...texts.keys()];
  const known = (await findToolByFile(folder)) ?? (names.some(isFlywayName) ? FLYWAY : undefined);
  if (known !== undefined) return { tool: known, rules: requireRules(found, known), forward: names };
  const { forward, undo, areDirected } = splitDirections(folder, names, refuse);
  const owners = found.shown.filter(
    ({ runsNumbered, rules }) => runsNumbered === true && names.some((name) => rules?.names?.test(name)),
  );
  const [owner, other] = owners;
  if (owner !== undefined && undo.length > 0)
    throw refuse(folder, `has files that undo others, and ${owner.name} runs them as well`, owner.command);
  const marked = findToolByMark(found);
  if (marked === undefined && other !== undefined)
    throw refuse(folder, `can be for ${owners.map(({ name }) => name).join(' or ')}`);
  const tool = marked ?? owner;
  if (tool !== undefined) return { tool, rules: requireRules(found, tool), forward };
  return { rules: areDirected ? UP_DOWN_RULES : UNKNOWN_RULES, forward };
}

async function findToolByFile(folder: string): Promise<MigrationTool | undefined> {
  for (const tool of MIGRATION_TOOLS)
    for (const file of tool.files ?? [])
      if ((await fileExists(path.join(folder, file))) && isBelow(folder, file)) return tool;
  return undefined;
}

/**
 * Whether a file above the folder is about this folder. If the file's path leads through a folder, such as `../../supabase/`, the
 * parent of this folder must have that name.
 */
const isBelow = (folder: string, file: string): boolean => {
  const [, parent] = /^\.\.\/\.\.\/([^/]+)\//.exec(file) ?? [];
  return parent === undefined || path.basename(path.dirname(path.resolve(folder))) === parent;
};

/** @throws {Error} if there are lines for several tools */
function findToolByMark({ folder, texts, refuse }: FoundMigrations): MigrationTool | undefined {
  const all = [...texts.values()];
  const [tool, other] = MIGRATION_TOOLS.filter(
    ({ mark }) => mark !== undefined && all.some((text) => mark.test(text)),
  );
  if (tool !== undefined && other !== undefined)
    throw refuse(folder, `has lines for ${tool.name} and for ${other.name}`, tool.command);
  return tool;
}

/** @throws {Error} if only the tool can run its files */
function requireRules(
  { folder, refuse }: FoundMigrations,
  { name, command, rules }: MigrationTool,
): FolderRules {
  if (rules === undefined) throw refuse(folder, `is for ${name}`, command);
  return rules;
}
