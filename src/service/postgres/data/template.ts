/**
 * Makes data directories. `initdb` runs once per Postgres version; every branch begins as a copy of its result, with
 * a password of its own.
 */
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writePrivateFile } from './privateFiles.ts';
import type { Binaries } from '../config/programs.ts';
import { copyTree } from './copyTree.ts';
import { BRANCH_DATABASE, BRANCH_ROLE, REPLICATOR, SUPERUSER, type ServiceLogins } from './logins.ts';
import { throwIfClosing, createAtomically } from './atomicDirectory.ts';
import { runProgram } from '../process/runProgram.ts';
import { scramVerifier } from './scramVerifier.ts';
import type { Storage } from './storage.ts';

/** Never trust: the gateway passes connections of any local user's on to this server. */
const HBA = `# Written by the service.
local   all          all                                  scram-sha-256
local   replication  ${REPLICATOR}                   scram-sha-256
host    all          all                 127.0.0.1/32     scram-sha-256
host    replication  ${REPLICATOR}  127.0.0.1/32     scram-sha-256
`;

export interface TemplateOptions {
  readonly storage: Storage;
  readonly binaries: Binaries;
  readonly logins: ServiceLogins;
  /** Aborted when the engine is closed: what is half made then is given up. */
  readonly ending: AbortSignal;
}

/** Makes the template of this Postgres version unless it exists. @returns its folder. @throws {EngineError} */
export async function ensureTemplate(options: TemplateOptions): Promise<string> {
  const template = options.storage.template(options.binaries.major);
  if (!existsSync(template)) await createAtomically(template, (making) => initialise(options, making));
  return template;
}

async function initialise(options: TemplateOptions, making: string): Promise<void> {
  const { storage, binaries, logins, ending } = options;
  const passwordFile = path.join(storage.root, 'initdb-password');
  writePrivateFile(passwordFile, logins.superuser);
  try {
    const args = [
      '-D',
      making,
      '-U',
      SUPERUSER,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--no-sync',
    ];
    await runProgram(binaries.initdb, [...args, ...clusterArguments(binaries.major)], {
      cwd: storage.root,
      signal: ending,
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  writePrivateFile(path.join(making, 'pg_hba.conf'), HBA);
  writePrivateFile(path.join(making, 'postgresql.conf'), '');
  await runSingleUser(options, making, rolesAndDatabase(binaries.major, logins), ending);
  await syncToDisk(options, making);
}

/** A new data directory, made as a copy of the template with this password for its owner. */
export async function makeFromTemplate(
  options: TemplateOptions,
  dataDir: string,
  password: string,
): Promise<void> {
  const { ending } = options;
  throwIfClosing(ending);
  const template = await ensureTemplate(options);
  const ownPassword = `ALTER ROLE ${BRANCH_ROLE} PASSWORD '${scramVerifier(password)}'`;
  await createAtomically(dataDir, async (making) => {
    await copyTree(template, making, { ending });
    await runSingleUser(options, making, [ownPassword], ending);
    await syncToDisk(options, making);
  });
}

/** UTF-8 everywhere, with rules that need nothing of the operating system's where this version brings them. */
const clusterArguments = (major: number) => [
  '--encoding=UTF8',
  '--locale=C',
  ...(major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : []),
];

function rolesAndDatabase(major: number, logins: ServiceLogins): string[] {
  // Before 16, CREATEROLE was as good as any predefined role, also those that run programs.
  const rights = major >= 16 ? 'CREATEDB CREATEROLE' : 'CREATEDB';
  return [
    `CREATE ROLE ${REPLICATOR} LOGIN REPLICATION PASSWORD '${scramVerifier(logins.replicator)}'`,
    `CREATE ROLE ${BRANCH_ROLE} LOGIN ${rights}`,
    `GRANT pg_monitor, pg_signal_backend TO ${BRANCH_ROLE}`,
    `CREATE DATABASE ${BRANCH_DATABASE} OWNER ${BRANCH_ROLE}`,
    // Errors and warnings of sessions are told to their clients. They hold data, which is not for the service's log.
    "ALTER ROLE ALL SET log_min_messages = 'log'",
  ];
}

type Tools = Pick<TemplateOptions, 'storage' | 'binaries'>;

/**
 * Runs statements, one a line, on a data directory no server runs on.
 * @param signal ends it in the middle; only for a data directory that is then thrown away
 * @returns what it printed
 */
export async function runSingleUser(
  tools: Tools,
  dataDir: string,
  statements: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const args = [
    '--single',
    '-D',
    dataDir,
    '-c',
    'log_min_messages=error',
    '-c',
    'exit_on_error=on',
    '-c',
    'search_path=pg_catalog',
    SUPERUSER,
  ];
  return runProgram(tools.binaries.postgres, args, {
    cwd: tools.storage.root,
    input: `${statements.join(';\n')};\n`,
    ...(signal === undefined ? {} : { signal }),
  });
}

/** Postgres trusts that files it did not write itself are on the disk: without this a power cut could tear them. */
async function syncToDisk(options: TemplateOptions, dataDir: string): Promise<void> {
  await runProgram(options.binaries.initdb, ['--sync-only', '-D', dataDir], {
    cwd: options.storage.root,
    signal: options.ending,
  });
}
