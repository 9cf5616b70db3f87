/**
 * Where the engine keeps what. Everything lies in one private folder below the service's data directory:
 *
 *     template-<major>/          a data directory made once, copied for every branch
 *     branches/<branch>/data/    the branch's data, on which its primary runs
 *     branches/<branch>/login.json
 *     replicas/<compute>/data/   a read replica's own copy
 *     poolers/<compute>/         PgBouncer's configuration
 *     sockets/<short name>/      one socket folder per server, here or (path too long) in the temporary folder
 */
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isId } from '../../api/ids.ts';
import { EngineError } from '../computeEngine.ts';
import { canReach, canSearch, makePrivateFolder, type Account } from './serverAccount.ts';

/** What `sun_path` holds on the BSDs and macOS, the shortest of all; Linux takes 107. */
const LONGEST_SOCKET_PATH = 103;

export interface Storage {
  readonly root: string;
  readonly account: Account | undefined;
  template(major: number): string;
  branch(branchId: string): string;
  replica(computeId: string): string;
  pooler(computeId: string): string;
  /** The folder for a server's socket, by the name of what it serves; made when missing. */
  socketFolder(name: string): string;
  /** Takes the sockets away when nothing runs any more. */
  removeSockets(): void;
}

export function openStorage(dataDir: string, account: Account | undefined): Storage {
  const root = account
    ? rootFor(path.resolve(dataDir), account)
    : path.join(path.resolve(dataDir), 'postgres');
  for (const folder of ['.', 'branches', 'replicas', 'poolers'])
    makePrivateFolder(path.join(root, folder), account);
  let sockets: string | undefined;
  const within = (kind: string) => (id: string) => path.join(root, kind, checked(id));
  return {
    root,
    account,
    template: (major) => path.join(root, `template-${major}`),
    branch: within('branches'),
    replica: within('replicas'),
    pooler: within('poolers'),
    socketFolder(name) {
      sockets ??= socketsRoot(root, account);
      const folder = path.join(sockets, shortName(name));
      makePrivateFolder(folder, account);
      return folder;
    },
    removeSockets() {
      if (sockets !== undefined) rmSync(sockets, { recursive: true, force: true });
      sockets = undefined;
    },
  };
}

const shortName = (name: string) => createHash('sha256').update(name).digest('hex').slice(0, 10);

function checked(id: string): string {
  if (!isId(id)) throw new EngineError(`Not an id: ${String(id)}`);
  return id;
}

/**
 * As root, the account `nobody` must be able to reach its data. The data directory itself may be opened for it to
 * pass through; where the way there is closed (as below /root) the data lives in /var/lib.
 */
function rootFor(dataDir: string, account: Account): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(dataDir);
  if (canReach(dataDir, account)) {
    if (!canSearch(dataDir, account) && uid === 0) {
      chownSync(dataDir, 0, account.gid);
      chmodSync(dataDir, (mode & 0o777) | 0o010);
    }
    if (canSearch(dataDir, account)) return path.join(dataDir, 'postgres');
  }
  mkdirSync('/var/lib/hosted-postgres', { recursive: true, mode: 0o755 });
  return path.join('/var/lib/hosted-postgres', shortName(dataDir));
}

/** Socket paths are short or not at all, so a deep data directory has its sockets in the temporary folder. */
function socketsRoot(root: string, account: Account | undefined): string {
  const inside = path.join(root, 'sockets');
  if (path.join(inside, shortName(''), '.s.PGSQL.5432').length <= LONGEST_SOCKET_PATH) {
    makePrivateFolder(inside, account);
    return inside;
  }
  // The random name is noted, so that a service that was killed finds its folder again instead of leaving it.
  const note = path.join(root, 'sockets-folder');
  const noted = existsSync(note) ? readFileSync(note, 'utf8') : undefined;
  if (noted !== undefined && existsSync(noted) && isOurs(noted, account)) return noted;
  const made = mkdtempSync(path.join(os.tmpdir(), 'hpg-'));
  makePrivateFolder(made, account);
  writeFileSync(note, made, { mode: 0o600 });
  return made;
}

/** Anyone can make a folder of a known name in the temporary folder: only one that is ours and private will do. */
function isOurs(folder: string, account: Account | undefined): boolean {
  const { uid, mode } = statSync(folder);
  return uid === (account?.uid ?? process.getuid?.() ?? uid) && (mode & 0o077) === 0;
}
