/** Runs statements on a data directory that is being created and has no server. */
import type Client from 'pg/lib/client.js';
import { asEngineError } from '../../core/computeEngine.ts';
import { MAINTENANCE_DATABASE } from '../../core/systemNames.ts';
import { withInternalServer } from '../server/launchServer.ts';
import { runProgram } from '../server/runProgram.ts';
import { isAdministratorRefused } from '../server/serverLog.ts';
import { settingArguments, sharedMemorySettings, type PostgresSettings } from '../server/settings.ts';
import { withSuperuser, type SuperuserLogin } from '../server/superuser.ts';
import { hasAccount } from './systemAccount.ts';

type Dependencies = Parameters<typeof withInternalServer>[0] &
  SuperuserLogin & { readonly shutdownSignal: AbortSignal };

interface Target {
  readonly database: string;
  readonly settings: PostgresSettings;
}

/** Runs statements in a new cluster. Each statement is one line. */
export async function runStatements(
  deps: Dependencies,
  dataDir: string,
  statements: readonly string[],
  { database = MAINTENANCE_DATABASE, settings = {} }: Partial<Target> = {},
): Promise<void> {
  const target = { database, settings };
  if (!hasAccount()) return runStatementsOnServer(deps, dataDir, statements, target);
  try {
    await runSingleUser(deps, dataDir, statements, target);
  } catch (error) {
    if (!isAdministratorRefused(error)) throw error;
    await runStatementsOnServer(deps, dataDir, statements, target);
  }
}

const creationSettings = (): PostgresSettings => ({
  log_min_messages: 'error',
  exit_on_error: 'on',
  search_path: 'pg_catalog',
  // The folder is synced as a whole, before it gets its name.
  fsync: 'off',
  wal_recycle: 'off',
  ...sharedMemorySettings(),
});

/**
 * Runs the statements without a server. Fails if the system has no entry for the current account, or if that is an administrator,
 * for whom Postgres refuses to run. Each statement is one line.
 */
export async function runSingleUser(
  deps: Dependencies,
  dataDir: string,
  statements: readonly string[],
  { database, settings }: Target,
): Promise<void> {
  const { storage, binaries, shutdownSignal } = deps;
  const args = [
    '--single',
    '-D',
    dataDir,
    ...settingArguments({ ...creationSettings(), ...settings }),
    database,
  ];
  await runProgram(binaries.postgres, args, {
    cwd: storage.root,
    input: `${statements.join(';\n')};\n`,
    signal: shutdownSignal,
  });
}

/** Starts a server on the data and stops it. Takes longer than `runSingleUser`, but needs no account that the system knows. */
export async function runStatementsOnServer(
  deps: Dependencies,
  dataDir: string,
  statements: readonly string[],
  { database, settings }: Target,
): Promise<void> {
  const start = { id: 'template', dataDir, name: dataDir, settings: { ...creationSettings(), ...settings } };
  await withInternalServer(deps, start, async ({ address }) => {
    const run = async (client: Client) => {
      for (const statement of statements) await client.query(statement);
    };
    await withSuperuser(deps, address, run, database).catch((error: unknown) => {
      throw asEngineError(error);
    });
  });
}
