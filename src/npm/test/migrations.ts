/** What fills the parent of the branches, and the hash by which a later run recognizes it. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import Client from 'pg/lib/client.js';
import type { BranchOptions, Step } from './types.d.ts';

/** @returns 40 characters that change with the steps and their files. @throws {Error} if a file is missing */
export async function contentHash(cwd: string, { from = '', migrate, seed }: BranchOptions): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([from, ...[migrate, seed].map(textOf)]));
  for (const step of [migrate, seed]) {
    for (const name of typeof step === 'string' ? [step] : (step?.files ?? [])) {
      for (const file of await filesIn(path.resolve(cwd, name))) {
        const content = createHash('sha256')
          .update(await readFile(file))
          .digest('hex');
        hash.update(`${path.relative(cwd, file)} ${content}\n`);
      }
    }
  }
  return hash.digest('hex').slice(0, 40);
}

const textOf = (step: Step | undefined): string =>
  typeof step === 'object' ? String(step.run) : (step ?? '');

/** In the order of their names, also below the folder. */
async function filesIn(name: string): Promise<string[]> {
  if (!(await stat(name)).isDirectory()) return [name];
  const entries = await readdir(name, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .toSorted();
}

/** @throws {Error} with the output of a command that failed, or the file whose SQL failed */
export async function runStep(cwd: string, step: Step, url: string): Promise<void> {
  if (typeof step === 'string') await runSql(path.resolve(cwd, step), url);
  else if (typeof step.run === 'string') await runCommand(cwd, step.run, url);
  else await step.run(url);
}

async function runSql(name: string, url: string): Promise<void> {
  const all = await filesIn(name);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const file of all.filter((each) => each === name || each.endsWith('.sql')))
      await client.query(await readFile(file, 'utf8')).catch((error: unknown) => {
        throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        });
      });
  } finally {
    await client.end();
  }
}

async function runCommand(cwd: string, command: string, url: string): Promise<void> {
  const child = spawn(command, {
    cwd,
    shell: true,
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${command} ended with ${String(code)}:\n${output}`);
}
