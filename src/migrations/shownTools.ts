/** Which tools that migrate a project uses, by its package.json. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { readChosenFile } from '../base/files.ts';
import { TOOLS, type MigrationTool } from './migrationTools.ts';

const DEPENDENCIES = ['dependencies', 'devDependencies'] as const;

/** @returns those of the nearest package.json in or above the folder that names any, up to the folder of the repository */
export async function shownTools(folder: string): Promise<readonly MigrationTool[]> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const names = await dependencies(path.join(at, 'package.json'));
    const named = TOOLS.filter(({ packages = [] }) => packages.some((each) => names.has(each)));
    const tools = named.filter(({ name }, index) => named.findIndex((tool) => tool.name === name) === index);
    if (tools.length > 0 || at === path.dirname(at) || (await exists(path.join(at, '.git')))) return tools;
  }
}

async function dependencies(file: string): Promise<ReadonlySet<string>> {
  const text = await readChosenFile(file).then(String, () => '{}');
  try {
    const fields: Readonly<Record<string, unknown>> | null = JSON.parse(text);
    return new Set(DEPENDENCIES.flatMap((each) => Object.keys(fields?.[each] ?? {})));
  } catch {
    // No project of npm reads it either.
    return new Set();
  }
}

export const exists = async (name: string): Promise<boolean> =>
  stat(name).then(
    () => true,
    () => false,
  );
