/**
 * Creates data directories: once per Postgres version the cluster template, from a packed cluster or by `initdb`. The data of
 * each branch without a parent is a copy of it, with a separate password, except for the first of a temporary service. The
 * cluster template has nothing to do with the database template1, which each cluster has.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { copyTree } from '../storage/copyTree.ts';
import { writePrivateFile, createAtomically, removeFileOrFolder } from '../storage/privateFiles.ts';
import { isUnreadableForInitdb } from '../server/asciiPath.ts';
import { packedClusterFile, PACKED_CLUSTER_MAJOR, type PostgresBinaries } from '../server/programs.ts';
import { settingArguments, sharedMemorySettings, type PostgresSettings } from '../server/settings.ts';
import { COMPLETION_STATEMENTS, unpackCluster } from './packedCluster.ts';
import { syncToDisk } from './syncToDisk.ts';
import { hasRemedy } from '../../../base/systemReason.ts';
import { asEngineError, EngineError } from '../../core/computeEngine.ts';
import { MAINTENANCE_DATABASE, REPLICATOR, SUPERUSER } from '../../core/systemNames.ts';
import {
  BRANCH_DATABASE,
  BRANCH_ROLE,
  READER_STATEMENTS,
  scramVerifier,
  type OwnerLogin,
  type ServicePasswords,
} from '../roles/logins.ts';
import type { Certificate } from '../server/certificate.ts';
import { runProgram } from '../server/runProgram.ts';
import { hasAccount, missingAccountMessage } from './systemAccount.ts';
import { runStatementsOnServer, runSingleUser, runStatements } from './runStatements.ts';
import type { EngineStorage } from '../storage/storage.ts';
import { quoteName } from '../../../base/sql/quote.ts';

/** Each login needs a password, because the gateway forwards connections of any local user. */
const PG_HBA = `# Written by the service.
local   all          all                                  scram-sha-256
local   replication  ${REPLICATOR}                   scram-sha-256
host    all          all                 127.0.0.1/32     scram-sha-256
host    replication  ${REPLICATOR}  127.0.0.1/32     scram-sha-256
`;

/** What all parts of the engine share. */
export interface EngineDependencies {
  readonly storage: EngineStorage;
  /** Whether all data is deleted at the end, so that nothing needs to survive a power failure. */
  readonly isTemporary: boolean;
  readonly binaries: PostgresBinaries;
  readonly logins: ServicePasswords;
  readonly certificate: Certificate;
  /** The settings that all servers have for extensions. See `extensions/ownerExtensions.ts`. */
  readonly extensionSettings: PostgresSettings;
  /** Aborted when the engine is closed. Unfinished folders are then removed. */
  readonly shutdownSignal: AbortSignal;
}

/** Creates the cluster template of this Postgres version unless it exists. @returns its folder. @throws {EngineError} */
export async function ensureClusterTemplate(deps: EngineDependencies): Promise<string> {
  const template = deps.storage.clusterTemplate(deps.binaries.major);
  if (existsSync(template)) return template;
  // The name is another one each time: on Windows, initdb outlives a service that was killed, and may remove its folder.
  const unfinished = `${template}.${randomBytes(2).toString('hex')}.new`;
  const fillTemplate = async (folder: string) => {
    await initialize(deps, folder);
    await syncToDisk(deps, folder);
  };
  await createAtomically(template, fillTemplate, unfinished);
  return template;
}

/** Fills the folder of the template, from the packed cluster or else with initdb. */
async function initialize(deps: EngineDependencies, folder: string): Promise<void> {
  const statements = rolesAndDatabaseStatements(deps.binaries.major, deps.logins);
  if (!(await initializeFromPacked(deps, folder, statements)))
    await initializeByInitdb(deps, folder, statements);
  removeVacuumMaps(folder);
}

/**
 * Unpacks the packed cluster. Returns false if there is none for this Postgres, or if it can't be used, for example because the build
 * has another block size.
 */
async function initializeFromPacked(
  deps: EngineDependencies,
  folder: string,
  statements: readonly string[],
): Promise<boolean> {
  const { binaries, logins, shutdownSignal } = deps;
  const packed = binaries.major === PACKED_CLUSTER_MAJOR ? packedClusterFile(binaries.folder) : undefined;
  if (packed === undefined) return false;
  try {
    unpackCluster(packed, folder);
    writeConfiguration(folder);
    const password = `ALTER ROLE ${SUPERUSER} PASSWORD '${scramVerifier(logins.superuser)}'`;
    const all = [...COMPLETION_STATEMENTS, password, ...statements];
    const target = { database: 'template1', settings: {} };
    // This isn't `runStatements`, which would start a server for an administrator of Windows. That server would ask for a password
    // that isn't set yet. So such a user gets what initdb makes.
    if (hasAccount()) await runSingleUser(deps, folder, all, target);
    else
      await withTrustedLogins(folder, async (settings) =>
        runStatementsOnServer(deps, folder, all, { ...target, settings }),
      );
    return true;
  } catch (error) {
    shutdownSignal.throwIfAborted();
    removeFileOrFolder(folder);
    if (hasRemedy(error)) throw error;
    // After any other error, initdb may still succeed. If not, it says why.
    return false;
  }
}

async function initializeByInitdb(
  deps: EngineDependencies,
  folder: string,
  statements: readonly string[],
): Promise<void> {
  const { storage, binaries, logins, shutdownSignal } = deps;
  const passwordFile = path.join(storage.root, 'initdb-password');
  writePrivateFile(passwordFile, logins.superuser);
  try {
    const args = ['-D', folder, `--pwfile=${passwordFile}`, ...clusterArguments(binaries.major)];
    await runProgram(binaries.initdb, args, { cwd: storage.root, signal: shutdownSignal });
  } catch (error) {
    if (isUnreadableForInitdb(binaries.initdb))
      throw new EngineError(unreadableMessage(binaries.folder, error));
    throw hasAccount() ? error : new EngineError(missingAccountMessage(binaries.folder));
  } finally {
    rmSync(passwordFile, { force: true });
  }
  writeConfiguration(folder);
  await runStatements(deps, folder, statements);
}

function writeConfiguration(folder: string): void {
  writePrivateFile(path.join(folder, 'pg_hba.conf'), PG_HBA);
  writePrivateFile(path.join(folder, 'postgresql.conf'), '');
}

const unreadableMessage = (folder: string, error: unknown): string =>
  `Postgres on Windows can't use ${folder}, because of letters in its path (${asEngineError(error).message}). Install Postgres in another folder and set hostedPostgres.localService.postgresPath (--postgres-path) to it.`;

/** Lets work use settings with which a server asks for no password on its socket, which is in a folder of this user's. */
async function withTrustedLogins(
  folder: string,
  work: (settings: PostgresSettings) => Promise<void>,
): Promise<void> {
  const hba = path.join(folder, 'pg_hba.trust.conf');
  writePrivateFile(hba, 'local all all trust\n');
  await work({ hba_file: hba, autovacuum: 'off' });
  rmSync(hba);
}

/**
 * Removes the free space maps and visibility maps, a quarter of the files that each branch would get. They are optional:
 * vacuum creates them again when a catalog has changed enough (Postgres manual, "Free Space Map" and "Visibility Map").
 */
export function removeVacuumMaps(folder: string): void {
  for (const name of readdirSync(folder, { encoding: 'utf8', recursive: true }))
    if (/[/\\]\d+_(fsm|vm)$/.test(name)) rmSync(path.join(folder, name));
}

/**
 * Returns the id of {@link BRANCH_DATABASE}. Each database has a folder, named by its id; this one was created last, so its id is
 * the highest.
 */
export const readDatabaseId = (dataDir: string): number =>
  Math.max(...readdirSync(path.join(dataDir, 'base')).map(Number).filter(Number.isInteger));

export interface NewRootData {
  readonly dataDir: string;
  readonly owner: OwnerLogin;
  /** Settings for the WAL that the branch keeps. */
  readonly settings: PostgresSettings;
  /** Statements for {@link BRANCH_DATABASE}. */
  readonly content: readonly string[];
}

/**
 * Creates the data directory of a branch without a parent.
 * @param template the folder that is copied; undefined to make the data without one
 */
export async function createRootData(
  deps: EngineDependencies,
  { dataDir, owner, settings, content }: NewRootData,
  template: string | undefined,
): Promise<void> {
  deps.shutdownSignal.throwIfAborted();
  await createAtomically(dataDir, async (unfinished) => {
    if (template === undefined) await initialize(deps, unfinished);
    else await copyTree(template, unfinished, { shutdownSignal: deps.shutdownSignal });
    const statements = [...ownerStatements(owner), ...content];
    // Only branches with the default owner have content.
    const database = content.length === 0 ? MAINTENANCE_DATABASE : BRANCH_DATABASE;
    await runStatements(deps, unfinished, statements, { database, settings });
    await syncToDisk(deps, unfinished);
  });
}

/** The control plane rejects names with control characters, which could end the line of a statement. */
function ownerStatements({ role, password, database }: OwnerLogin): string[] {
  const statements = [`ALTER ROLE ${BRANCH_ROLE} PASSWORD '${scramVerifier(password)}'`];
  if (role !== BRANCH_ROLE) statements.push(`ALTER ROLE ${BRANCH_ROLE} RENAME TO ${quoteName(role)}`);
  if (database !== BRANCH_DATABASE)
    statements.push(`ALTER DATABASE ${BRANCH_DATABASE} RENAME TO ${quoteName(database)}`);
  return statements;
}

/** Returns arguments of initdb: UTF-8, if possible with Postgres's own collation, which does not depend on the operating system. */
export const clusterArguments = (major: number) => [
  `--username=${SUPERUSER}`,
  '--auth=scram-sha-256',
  '--no-sync',
  // The files of the write-ahead log are the smallest possible, because even an empty branch has one.
  '--wal-segsize=1',
  '--encoding=UTF8',
  '--locale=C',
  ...(major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
  // These settings are for the server that initdb runs. Before 16, initdb has no such option. Recycled files of the log would be
  // copied for each branch.
  ...(major >= 16 ? settingArguments({ wal_recycle: 'off', ...sharedMemorySettings() }) : []),
];

/**
 * Returns the rights of the branch's role, and of the roles that are created through the API. Before 16, CREATEROLE could grant
 * any predefined role, including those that run programs.
 */
export const ownerAttributes = (major: number): string => (major >= 16 ? 'CREATEDB CREATEROLE' : 'CREATEDB');
/** The roles that owners are members of. */
export const ROLES_OF_OWNERS = 'pg_monitor, pg_signal_backend';

function rolesAndDatabaseStatements(major: number, logins: ServicePasswords): string[] {
  return [
    `CREATE ROLE ${REPLICATOR} LOGIN REPLICATION PASSWORD '${scramVerifier(logins.replicator)}'`,
    ...READER_STATEMENTS,
    `CREATE ROLE ${BRANCH_ROLE} LOGIN ${ownerAttributes(major)}`,
    `GRANT ${ROLES_OF_OWNERS} TO ${BRANCH_ROLE}`,
    // A session in template1 would block CREATE DATABASE.
    'REVOKE CONNECT ON DATABASE template1 FROM PUBLIC',
    // The default strategy, wal_log, would log each page of the database, and no server reads that log.
    `CREATE DATABASE ${BRANCH_DATABASE} OWNER ${BRANCH_ROLE} STRATEGY = file_copy`,
    // Clients get errors and warnings. They contain data, which must not be in the service's log.
    "ALTER ROLE ALL SET log_min_messages = 'log'",
  ];
}
