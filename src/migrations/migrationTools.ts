/**
 * What tools that migrate do with a folder of SQL: one row for each. A tool is known by a fact that no other one shares: a file that only it has,
 * a line that only it reads, the names of its files, or `package.json`.
 */
import { nodePgMigratePart, upPartByLine, type UpPart } from './upPart.ts';

/**
 * - `statements`: each statement by itself, as psql runs them.
 * - `unknown`: the same, unless a statement says that it needs a transaction.
 * - `query`: all text of the file in one request, so Postgres runs several statements in one transaction.
 * - `file`: one transaction for each file.
 * - `all`: one transaction for all files.
 */
export type TransactionMode = 'statements' | 'unknown' | 'query' | 'file' | 'all';

/** How a tool runs the files of a folder. */
export interface FolderRules {
  /** The names of all files that the tool runs. */
  readonly names?: RegExp;
  /** `text` compares names by characters, and `number` by the numbers in them. */
  readonly order: 'text' | 'number' | 'journal' | 'version';
  readonly transaction: TransactionMode;
  /** A name with 17 digits is a date, and one with fewer is milliseconds or a number. */
  readonly datesOf17Digits?: true;
  /** A file with `mark` runs in this way instead. */
  readonly without?: { readonly mark: RegExp; readonly transaction: TransactionMode };
  /** The same session runs all files, so its settings stay for the next file. */
  readonly isOneSession: boolean;
  readonly upPart?: UpPart;
  /** What only the tool itself can run. */
  readonly refused?: { readonly mark: RegExp; readonly reason: string };
}

interface DownCommand {
  readonly command: string;
  /** Whether the command takes back one file at a time, and not all that were applied together. */
  readonly isOneFile: boolean;
}

export interface MigrationTool {
  readonly name: string;
  /** The command of the tool, which gets the database from `DATABASE_URL`. */
  readonly command: string;
  /** The command that takes back what `command` has applied. */
  readonly down?: DownCommand;
  /**
   * A project that has one of these packages in `package.json` uses the tool. If it is a library without a program, `command` is
   * a script of the project, and the tool's program is in the list before it.
   */
  readonly packages?: readonly string[];
  /** Files that only this tool has, in the folder or relative to it. */
  readonly files?: readonly string[];
  /** If a project uses the tool, numbered files are for this tool. */
  readonly runsNumbered?: true;
  /** A line that only this tool reads. */
  readonly mark?: RegExp;
  /** Missing if only the tool can run its files. */
  readonly rules?: FolderRules;
}

/** What psql does with a file. */
export const PSQL_RULES: FolderRules = { order: 'number', transaction: 'statements', isOneSession: false };
/** The rules for numbered files of an unknown tool. */
export const UNKNOWN_RULES: FolderRules = { order: 'number', transaction: 'unknown', isOneSession: false };

export const FLYWAY: MigrationTool & { readonly rules: FolderRules } = {
  name: 'Flyway',
  command: 'flyway migrate',
  rules: {
    order: 'version',
    transaction: 'query',
    isOneSession: false,
    refused: { mark: /\$\{\w/, reason: 'has placeholders of Flyway' },
  },
};

/** The rules for pairs such as `1_a.up.sql` and `1_a.down.sql`, `1_a/up.sql` and `1_a/down.sql`, or `1.do.sql` and `1.undo.sql`. */
export const UP_DOWN_RULES: FolderRules = { order: 'number', transaction: 'query', isOneSession: true };

const NUMBERED = /^\d[^/]*\.sql$/;
const GOOSE = 'goose postgres "$DATABASE_URL" up';

export const MIGRATION_TOOLS: readonly MigrationTool[] = [
  FLYWAY,
  {
    name: 'Drizzle',
    command: 'npx drizzle-kit migrate',
    packages: ['drizzle-kit'],
    files: ['meta/_journal.json'],
    rules: { order: 'journal', transaction: 'all', isOneSession: true },
  },
  {
    name: 'Prisma',
    command: 'npx prisma migrate deploy',
    packages: ['prisma'],
    files: ['migration_lock.toml'],
    rules: { names: /^[^/]+\/migration\.sql$/, order: 'text', transaction: 'query', isOneSession: true },
  },
  {
    name: 'Atlas',
    command: 'atlas migrate apply --url "$DATABASE_URL"',
    files: ['atlas.sum'],
    mark: /^-- *atlas:\w/m,
    rules: {
      order: 'text',
      transaction: 'file',
      without: { mark: /^-- *atlas:txmode +none\s*$/m, transaction: 'statements' },
      isOneSession: true,
      refused: { mark: /^-- *atlas:(?:checkpoint|delimiter|import)/im, reason: 'is for Atlas' },
    },
  },
  {
    name: 'Supabase',
    command: 'npx supabase db push --db-url "$DATABASE_URL" --yes',
    packages: ['supabase'],
    files: ['../../supabase/config.toml'],
    rules: { names: /^\d+_[^/]*\.sql$/, order: 'text', transaction: 'query', isOneSession: false },
  },
  {
    name: 'Sqitch',
    command: 'sqitch deploy "db:$DATABASE_URL"',
    files: ['sqitch.plan', '../sqitch.plan'],
  },
  {
    name: 'graphile-migrate',
    command: 'npx graphile-migrate migrate',
    packages: ['graphile-migrate'],
    mark: /^--! Previous: /m,
    rules: {
      names: /^(?:.*\/)?\d{6}[^/]*\.sql$/,
      order: 'number',
      transaction: 'file',
      without: { mark: /^(?:--! .*\n)*\n?--!\s*no-transaction\b/, transaction: 'query' },
      isOneSession: true,
      refused: {
        mark: /(?<!:):(?:[A-Z][A-Z0-9]*_[A-Z0-9_]+)\b/,
        reason: 'has placeholders of graphile-migrate',
      },
    },
  },
  {
    name: 'dbmate',
    command: 'npx dbmate up',
    packages: ['dbmate'],
    mark: /^--\s*migrate:(?:up|down)\b/m,
    rules: {
      names: NUMBERED,
      order: 'text',
      transaction: 'file',
      without: { mark: /^--\s*migrate:up\s.*\btransaction:false\b/m, transaction: 'query' },
      isOneSession: true,
      upPart: upPartByLine(/^--\s*migrate:up(?:\s*$|\s+\S+)/, /^--\s*migrate:down(?:\s*$|\s+\S+)/),
    },
  },
  {
    name: 'goose',
    command: GOOSE,
    mark: /^--[ \t-]*\+goose\b/im,
    rules: {
      names: NUMBERED,
      order: 'number',
      transaction: 'file',
      without: { mark: /^--[ \t-]*\+goose\s+no transaction\s*$/im, transaction: 'statements' },
      isOneSession: true,
      upPart: upPartByLine(/^--[ \t-]*\+goose\s+up\s*$/i, /^--[ \t-]*\+goose\s+down\s*$/i),
      refused: { mark: /^--[ \t-]*\+goose\s+envsub/im, reason: 'has variables of goose' },
    },
  },
  {
    name: 'sql-migrate',
    command: 'sql-migrate up',
    mark: /^-- \+migrate\b/m,
    rules: {
      order: 'number',
      transaction: 'file',
      without: { mark: /^-- \+migrate Up\b.*\bnotransaction\b/m, transaction: 'statements' },
      isOneSession: true,
      upPart: upPartByLine(/^-- \+migrate Up\b/, /^-- \+migrate Down\b/),
    },
  },
  {
    name: 'Tern',
    command: 'tern migrate --conn-string "$DATABASE_URL"',
    mark: /^---- create above \/ drop below ----\s*$/m,
    rules: {
      names: NUMBERED,
      order: 'number',
      transaction: 'file',
      without: { mark: /^---- tern: disable-tx ----/m, transaction: 'statements' },
      isOneSession: false,
      upPart: upPartByLine(undefined, /^---- create above \/ drop below ----\s*$/),
      refused: { mark: /\{\{/, reason: 'is a template of Tern' },
    },
  },
  {
    name: 'Rambler',
    command: 'rambler apply --all',
    mark: /^--\s*rambler up\b/m,
    rules: {
      order: 'number',
      transaction: 'unknown',
      isOneSession: true,
      upPart: upPartByLine(/^--\s*rambler up\b/, /^--\s*rambler down\b/),
    },
  },
  {
    name: 'Play',
    command: 'sbt run',
    mark: /^(?:#|--).*!Ups\b/m,
    rules: {
      names: /^\d+\.sql$/,
      order: 'number',
      transaction: 'unknown',
      isOneSession: true,
      upPart: upPartByLine(/^(?:#|--).*!Ups\b/, /^(?:#|--).*!Downs\b/),
    },
  },
  {
    name: 'node-pg-migrate',
    command: 'npx node-pg-migrate up',
    down: { command: 'npx node-pg-migrate down', isOneFile: true },
    packages: ['node-pg-migrate'],
    runsNumbered: true,
    mark: /^[ \t]*--[ \t-]*up migration\s*$/im,
    rules: {
      names: NUMBERED,
      order: 'number',
      datesOf17Digits: true,
      transaction: 'all',
      isOneSession: true,
      upPart: nodePgMigratePart,
    },
  },
  {
    name: 'postgres-migrations',
    command: 'node migrate.js',
    packages: ['postgres-migrations'],
    runsNumbered: true,
    rules: {
      names: NUMBERED,
      order: 'number',
      transaction: 'file',
      without: { mark: /-- postgres-migrations disable-transaction/, transaction: 'query' },
      isOneSession: true,
    },
  },
  {
    name: '@databases/pg-migrations',
    command: 'npx pg-migrations apply',
    packages: ['@databases/pg-migrations'],
    runsNumbered: true,
    rules: { names: /^\d+-[^/]*\.sql$/, order: 'number', transaction: 'file', isOneSession: true },
  },
  { name: 'Postgrator', command: 'npx postgrator', packages: ['postgrator-cli'] },
  { name: 'Postgrator', command: 'node migrate.js', packages: ['postgrator'] },
  {
    name: 'Marv',
    command: 'node migrate.js',
    packages: ['marv'],
    runsNumbered: true,
    rules: {
      names: /^\d+\D.*\.sql$/,
      order: 'number',
      transaction: 'query',
      isOneSession: true,
      refused: { mark: /^--\s*@MARV\s+skip/im, reason: 'is skipped by Marv' },
    },
  },
  {
    name: 'Knex',
    command: 'npx knex migrate:latest',
    down: { command: 'npx knex migrate:rollback', isOneFile: false },
    packages: ['knex'],
  },
  {
    name: 'TypeORM',
    command: 'npx typeorm migration:run -d data-source.js',
    down: { command: 'npx typeorm migration:revert -d data-source.js', isOneFile: true },
    packages: ['typeorm'],
  },
  { name: 'MikroORM', command: 'npx mikro-orm migration:up', packages: ['@mikro-orm/cli'] },
  { name: 'MikroORM', command: 'node migrate.js', packages: ['@mikro-orm/migrations'] },
  {
    name: 'Sequelize',
    command: 'npx sequelize-cli db:migrate',
    down: { command: 'npx sequelize-cli db:migrate:undo', isOneFile: true },
    packages: ['sequelize-cli'],
  },
  { name: 'Kysely', command: 'npx kysely migrate:latest', packages: ['kysely-ctl'] },
  { name: 'db-migrate', command: 'npx db-migrate up', packages: ['db-migrate'] },
  { name: 'ley', command: 'npx ley up', packages: ['ley'] },
  { name: 'Liquibase', command: 'liquibase update', mark: /^--\s*liquibase formatted sql/im },
  { name: 'MyBatis Migrations', command: 'migrate up', mark: /^[ \t]*--\s*\/\/\s*@UNDO\b/im },
  { name: 'shmig', command: 'shmig -t postgresql up', mark: /^[ \t]*-- ==== (?:UP|DOWN) ====/m },
  { name: 'pogo', command: 'pogo migrate', mark: /^[ \t]*--\s*migrate:\s*rollback\b/im },
];

/** Returns the command that takes back what this one has applied; undefined if no such command is known. */
export const downCommandOf = (command: string): DownCommand | undefined =>
  MIGRATION_TOOLS.find((tool) => tool.command === command.trim())?.down;
