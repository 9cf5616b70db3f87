/** Which tools that migrate a project uses, by its package.json. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { readChosenFile } from '../base/files.ts';
import { MIGRATION_TOOLS, type MigrationTool } from './migrationTools.ts';

const DEPENDENCIES = ['dependencies', 'devDependencies'] as const;

/** Returns those of the nearest package.json in or above the folder that names any, up to the folder of the repository. */
export async function findProjectTools(folder: string): Promise<readonly MigrationTool[]> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    const names = await readDependencies(path.join(at, 'package.json'));
    const named = MIGRATION_TOOLS.filter(({ packages = [] }) => packages.some((each) => names.has(each)));
    const tools = named.filter(({ name }, index) => named.findIndex((tool) => tool.name === name) === index);
    if (tools.length > 0 || at === path.dirname(at) || (await fileExists(path.join(at, '.git'))))
      return tools;
  }
}

async function readDependencies(file: string): Promise<ReadonlySet<string>> {
  const text = await readChosenFile(file).then(String, () => '{}');
  try {
    const fields: Readonly<Record<string, unknown>> | null = JSON.parse(text);
    return new Set(DEPENDENCIES.flatMap((each) => Object.keys(fields?.[each] ?? {})));
  } catch {
    // npm can't read the file either.
    return new Set();
  }
}

export const fileExists = async (name: string): Promise<boolean> =>
  stat(name).then(
    () => true,
    () => false,
  );
