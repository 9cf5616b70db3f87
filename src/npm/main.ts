#!/usr/bin/env node
/** `npx hosted-postgres`: starts the service with the Postgres from npm, alone or around a command. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { StartError } from '../service/core/serviceErrors.ts';
import { ServiceApi } from './api.ts';
import { databaseForCommand, waitUntilDatabaseAnswers } from './database.ts';
import { baseUrlOrUndefined, completeBaseUrl } from '../api/transport/baseUrl.ts';
import { describeAssumedVariables } from '../api/addresses/addressGroups.ts';
import { databaseVariables } from '../api/addresses/databaseVariables.ts';
import { endWithNpm } from './endWithNpm.ts';
import { readCommandLine } from './options.ts';
import {
  readOrCreateKey,
  newApiKey,
  createReachableDataFolder,
  PROJECT_DATA_FOLDER,
} from '../localService/ownFolder.ts';
import type { RehearsedBranch } from './rehearse.ts';
import { preparePostgres } from './postgres.ts';
import { runShellCommand } from './runCommand.ts';
import { startAttachedService, type StartedService } from '../localService/startAttached.ts';

type CommandLine = ReturnType<typeof readCommandLine>;

const PUBLIC_SERVICE = 'https://console.neon.tech/api/v2';
const KEY_VARIABLE = 'HOSTED_POSTGRES_SERVICE_API_KEY';
const TOKEN_VARIABLE = 'HOSTED_POSTGRES_COMMENT_TOKEN';
/** The paths of two files in the package, next to this one. */
const [SERVICE, PROJECT] = ['service.js', 'project.json'].map((name) => path.join(import.meta.dirname, name));

async function main(): Promise<number> {
  const options = readCommandLine(process.argv.slice(2));
  if (options.help !== false) {
    process.stdout.write(options.help);
    return 0;
  }
  const token = options.rehearsal?.comment === true ? takeToken() : undefined;
  if (options.run !== undefined || options.rehearsal !== undefined) writeAssumedVariables();
  if (options.rehearsal?.account === true) return await rehearseInAccount({ ...options.rehearsal, token });
  const dump = await findNamedDump(options);
  const dataDir =
    options.temporary || dump !== undefined
      ? undefined
      : path.resolve(options.dataDir ?? PROJECT_DATA_FOLDER);
  if (dataDir !== undefined)
    createReachableDataFolder(dataDir, { ignoreInGit: options.dataDir === undefined });
  const ownKey = () => (dataDir === undefined ? newApiKey() : readOrCreateKey(dataDir));
  // An empty key comes from a variable that isn't set.
  const key = options.apiKey || process.env[KEY_VARIABLE] || ownKey();
  endWithNpm();
  const service = await startAttachedService(SERVICE ?? '', serviceArguments(options, dataDir), key);
  if (typeof service === 'number') return service;
  const { run, rest, rehearsal } = options;
  // If a command runs, the standard output is for what it prints.
  const isAlone = run === undefined && rehearsal === undefined;
  const output = isAlone ? process.stdout : process.stderr;
  output.write(`Base URL: ${service.baseUrl}\nAPI key: ${key}\n`);
  if (rehearsal !== undefined) return rehearseOnService(service, key, { ...rehearsal, token, dump });
  return run === undefined
    ? service.ended
    : runCommandOnService(service, key, run, rest['no-postgres'] !== true);
}

function writeAssumedVariables(): void {
  const text = describeAssumedVariables();
  if (text !== undefined) process.stderr.write(`${text}\n`);
}

/** Takes the token from the environment, so that commands don't get it. @throws {StartError} `usage` without a token */
function takeToken(): string {
  const token = process.env[TOKEN_VARIABLE];
  if (!token) throw new StartError('usage', `--comment needs ${TOKEN_VARIABLE}`);
  delete process.env[TOKEN_VARIABLE];
  return token;
}

/** Returns the dump to rehearse on. @throws {StartError} `usage` if other data are named, or a branch has the same name */
async function findNamedDump({ rehearsal, dataDir }: CommandLine): Promise<string | undefined> {
  if (rehearsal?.from === undefined) return undefined;
  const { from } = rehearsal;
  const { isDump } = await import('./restoreDump.ts');
  if (!(await isDump(from))) return undefined;
  const id = await branchNamed(path.resolve(dataDir ?? PROJECT_DATA_FOLDER), from);
  if (id !== undefined)
    throw new StartError(
      'usage',
      `"${from}" is a branch and a dump. For the branch, use --from ${id}; for the dump, --from ${path.resolve(from)}`,
    );
  if (dataDir !== undefined)
    throw new StartError('usage', `--data-dir and the dump ${from} exclude each other`);
  return from;
}

/** Returns the id of a branch with this name or id, but undefined if the name can only be that of a file. */
async function branchNamed(dataDir: string, name: string): Promise<string | undefined> {
  const file = path.isAbsolute(name) ? undefined : findAccountFile(dataDir);
  if (file === undefined) return undefined;
  const { readAccountFile } = await import('../service/state/accountFile.ts');
  const branches = (readAccountFile(file) ?? []).flatMap((each) =>
    'set' in each && each.set === 'branch' ? [each.value] : [],
  );
  return branches.find((branch) => branch.id === name || branch.name === name)?.id;
}

type Rehearsal = NonNullable<CommandLine['rehearsal']> & { readonly token?: string | undefined };

/** @throws {StartError} `usage` without a key and a project */
async function rehearseInAccount(rehearsal: Rehearsal): Promise<number> {
  const { NEON_API_KEY: key, NEON_PROJECT_ID: projectId, NEON_API_HOST: host } = process.env;
  if (!key || !projectId) throw new StartError('usage', '--account needs NEON_API_KEY and NEON_PROJECT_ID');
  const baseUrl = baseUrlOrUndefined(completeBaseUrl(host || PUBLIC_SERVICE));
  if (baseUrl === undefined) throw new StartError('usage', `NEON_API_HOST is no base URL: ${host}`);
  const { rehearseCommand } = await import('./rehearse.ts');
  const run = async (each: string, { id: branchId, url }: RehearsedBranch) =>
    runShellCommand(
      each,
      { ...process.env, ...serviceVariables(baseUrl, key, { projectId, branchId, url }) },
      'stderr',
    );
  return await rehearseCommand(new ServiceApi(baseUrl, key, { isHosted: true }), {
    ...rehearsal,
    projectId,
    run,
  });
}

async function rehearseOnService(
  service: StartedService,
  key: string,
  { dump, ...rehearsal }: Rehearsal & { readonly dump: string | undefined },
): Promise<number> {
  try {
    const { rehearseCommand } = await import('./rehearse.ts');
    const api = new ServiceApi(service.baseUrl, key);
    if (dump !== undefined) await restoreIntoService(api, dump);
    service.leaveSignals();
    const run = async (each: string, { project_id: projectId, id: branchId, url }: RehearsedBranch) =>
      runShellCommand(
        each,
        { ...process.env, ...serviceVariables(service.baseUrl, key, { projectId, branchId, url }) },
        'stderr',
      );
    const from = dump === undefined ? rehearsal.from : undefined;
    return await rehearseCommand(api, { ...rehearsal, from, dump, run });
  } finally {
    await service.stop();
  }
}

async function restoreIntoService(api: ServiceApi, dump: string): Promise<void> {
  const { restoreDump } = await import('./restoreDump.ts');
  const database = await databaseForCommand(api, { hasPostgres: true });
  if (database?.url === undefined) throw new Error('There is no database for the dump');
  await waitUntilDatabaseAnswers(database.url);
  await restoreDump(dump, database.url);
}

async function runCommandOnService(
  service: StartedService,
  key: string,
  command: string,
  hasPostgres: boolean,
): Promise<number> {
  try {
    const database = await databaseForCommand(new ServiceApi(service.baseUrl, key), { hasPostgres });
    if (database?.note !== undefined) process.stderr.write(`${database.note}\n`);
    if (database?.url !== undefined) await waitUntilDatabaseAnswers(database.url);
    service.leaveSignals();
    return await runShellCommand(command, {
      ...process.env,
      ...serviceVariables(service.baseUrl, key, database),
    });
  } finally {
    await service.stop();
  }
}

interface CommandDatabase {
  readonly projectId: string;
  readonly branchId: string;
  readonly url: string | undefined;
}

/** Returns the variables that the public command line, SDKs and clients of Postgres read. */
const serviceVariables = (baseUrl: string, key: string, database: CommandDatabase | undefined) => ({
  NEON_API_HOST: baseUrl,
  NEON_API_KEY: key,
  ...(database && { NEON_PROJECT_ID: database.projectId, NEON_BRANCH_ID: database.branchId }),
  ...databaseVariables(database?.url),
});

function serviceArguments({ run, rest, rehearsal }: CommandLine, dataDir: string | undefined): string[] {
  const postgres = rest['postgres-path'] ?? (rest['no-postgres'] ? undefined : preparePostgres());
  const isBackground = run !== undefined || rehearsal !== undefined || dataDir === undefined;
  const values = {
    ...(isBackground && { port: '0' }),
    ...(dataDir !== undefined && { 'data-dir': dataDir }),
    ...((dataDir === undefined || findAccountFile(dataDir) === undefined) && { projects: PROJECT }),
    ...(postgres !== undefined && { 'postgres-path': postgres }),
    ...(rest['extensions-dir'] === undefined && { 'installed-extensions': true }),
    ...rest,
  };
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => {
      if (typeof each === 'string') return [`--${name}`, each];
      return each === true ? [`--${name}`] : [];
    }),
  );
}

/**
 * The file with the account of a service that has used this folder before. If root starts the service, a file in the folder may name
 * another folder with the data.
 */
function findAccountFile(dataDir: string): string | undefined {
  const note = path.join(dataDir, 'postgres-folder');
  const folders = [path.join(dataDir, 'postgres'), existsSync(note) ? readFileSync(note, 'utf8') : ''];
  return folders.map((folder) => path.join(folder, 'account.json')).find((file) => existsSync(file));
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof StartError ? error.exitCode : 1);
  },
);
