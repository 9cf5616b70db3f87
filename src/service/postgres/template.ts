/**
 * Makes data directories. `initdb` runs once per Postgres version; every branch begins as a copy of its result, with
 * a password of its own.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { writePrivateFile } from './serverAccount.ts';
import type { Binaries } from './binaries.ts';
import { copyTree } from './copyTree.ts';
import { BRANCH_DATABASE, BRANCH_ROLE, REPLICATOR, SUPERUSER, type ServiceLogins } from './logins.ts';
import { WAL_SEGMENT_MB } from './controlFile.ts';
import { runProgram } from './program.ts';
import { scramVerifier } from './scram.ts';
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
}

/** Makes the template of this Postgres version unless it exists. @returns its folder. @throws {EngineError} */
export async function ensureTemplate({ storage, binaries, logins }: TemplateOptions): Promise<string> {
  const template = storage.template(binaries.major);
  if (existsSync(template)) return template;
  const making = `${template}.new`;
  rmSync(making, { recursive: true, force: true });
  const passwordFile = path.join(storage.root, 'initdb-password');
  writePrivateFile(passwordFile, logins.superuser, storage.account);
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
      account: storage.account,
      cwd: storage.root,
    });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  writePrivateFile(path.join(making, 'pg_hba.conf'), HBA, storage.account);
  writePrivateFile(path.join(making, 'postgresql.conf'), '', storage.account);
  await runSingleUser({ storage, binaries }, making, rolesAndDatabase(binaries.major, logins));
  await syncToDisk({ storage, binaries }, making);
  renameSync(making, template);
  return template;
}

/** A new data directory, made as a copy of the template with this password for its owner. */
export async function makeFromTemplate(
  options: TemplateOptions,
  dataDir: string,
  password: string,
): Promise<void> {
  const template = await ensureTemplate(options);
  const making = `${dataDir}.new`;
  rmSync(making, { recursive: true, force: true });
  await copyTree(template, making, { account: options.storage.account });
  await runSingleUser(options, making, [`ALTER ROLE ${BRANCH_ROLE} PASSWORD '${scramVerifier(password)}'`]);
  await syncToDisk(options, making);
  renameSync(making, dataDir);
}

/** UTF-8 everywhere, with rules that need nothing of the operating system's where this version brings them. */
const clusterArguments = (major: number) => [
  '--encoding=UTF8',
  `--wal-segsize=${WAL_SEGMENT_MB}`,
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
  ];
}

type Tools = Pick<TemplateOptions, 'storage' | 'binaries'>;

/** Runs statements, one a line, on a data directory no server runs on. @returns what it printed. */
export async function runSingleUser(
  tools: Tools,
  dataDir: string,
  statements: readonly string[],
): Promise<string> {
  const args = [
    '--single',
    '-D',
    dataDir,
    '-c',
    'log_min_messages=error',
    '-c',
    'exit_on_error=on',
    SUPERUSER,
  ];
  return runProgram(tools.binaries.postgres, args, {
    account: tools.storage.account,
    cwd: tools.storage.root,
    input: `${statements.join(';\n')};\n`,
  });
}

/** Postgres trusts that files it did not write itself are on the disk: without this a power cut could tear them. */
async function syncToDisk(tools: Tools, dataDir: string): Promise<void> {
  await runProgram(tools.binaries.initdb, ['--sync-only', '-D', dataDir], {
    account: tools.storage.account,
    cwd: tools.storage.root,
  });
}
