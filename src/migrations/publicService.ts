/** What dumps of the public service need: its roles, and statements that its changed Postgres lets owners run. */
import type Client from 'pg/lib/client.js';
import { fieldsOf } from '../base/fieldsOf.ts';
import { readStatements } from '../base/sql/readStatements.ts';
import type { SkipRule } from '../base/sql/runScript.ts';
import { identifierIn, isKeyword, tokensOf, type MeaningfulToken } from '../base/sql/sqlTokens.ts';

/** Roles that each database of the public service has. A dump names them as owners, and in grants. */
const ROLES = ['cloud_admin', 'neon_superuser', 'neondb_owner'];

/**
 * Creates the roles of the public service that a script names and that don't exist. They can't log in, and have no right but to
 * create in this database. The role of the connection becomes a member, so that it can give objects to them and keeps its rights
 * to those.
 */
export async function createPublicServiceRoles(client: Client, text: string): Promise<void> {
  const named = missingRoles(text);
  if (named.length === 0) return;
  const { rows } = await client.query<{ role: string; isMissing: boolean; database: string }>(
    `select role, to_regrole(role) is null as "isMissing", quote_ident(current_database()) as database
      from unnest($1::text[]) role, pg_roles own
      where own.rolname = current_user and own.rolcreaterole and own.rolname <> role
        and current_setting('server_version_num')::int >= 160000
        and case when to_regrole(role) is null then true else pg_has_role(to_regrole(role), 'SET') end`,
    [named],
  );
  for (const { role, isMissing, database } of rows) {
    if (isMissing) {
      await client.query(`create role ${role} nologin`);
      await client.query(`grant ${role} to current_user with inherit true, set true`);
    }
    // Roles belong to the whole branch, but rights to one database.
    await client.query(`grant create on database ${database} to ${role}`);
    await client.query(`grant create, usage on schema public to ${role}`);
  }
}

/** Returns the roles of the public service that a script names, without those that it creates itself. */
function missingRoles(text: string): string[] {
  const named = new Set<string>();
  const created = new Set<string>();
  // Most scripts name no role, and needn't be read twice.
  if (!ROLES.some((role) => text.toLowerCase().includes(role))) return [];
  for (const statement of readStatements(text)) {
    if (statement.kind === 'command') continue;
    const [verb, kind, name, ...rest] = tokensOf(statement.text);
    for (const token of [verb, kind, name, ...rest]) named.add(identifierIn(token) ?? '');
    if (isKeyword(verb, 'create') && ['role', 'user', 'group'].some((each) => isKeyword(kind, each)))
      created.add(identifierIn(name) ?? '');
  }
  return ROLES.filter((role) => named.has(role) && !created.has(role));
}

export interface SkippedStatement {
  readonly text: string;
  readonly file: string;
  readonly line: number;
  /** What Postgres says. */
  readonly reason: string;
}

const [NOT_ALLOWED, MISSING] = ['42501', '42704'];

/**
 * Skips event triggers, and publications of all tables or of schemas, which Postgres leaves to superusers, with what follows about
 * them. A publication of tables that the role doesn't own isn't one of them.
 */
export class SuperuserStatements {
  readonly #onSkip: (skipped: SkippedStatement) => void;
  readonly #skipped = new Set<string>();

  constructor(onSkip: (skipped: SkippedStatement) => void) {
    this.#onSkip = onSkip;
  }

  ruleFor(file: string): SkipRule {
    return {
      mayFail: (text) => {
        const subject = subjectOf(text);
        return subject !== undefined && (subject.isForSuperusers || this.#isAboutSkipped(subject));
      },
      skipIfSuperuserOnly: (error, text, line) => {
        const { code, message } = fieldsOf(error);
        const subject = subjectOf(text);
        if (subject === undefined) return false;
        const isRefused = code === NOT_ALLOWED && subject.isForSuperusers;
        if (!isRefused && !(code === MISSING && this.#isAboutSkipped(subject))) return false;
        for (const each of subject.objects) this.#skipped.add(each);
        this.#onSkip({ text: Buffer.from(text, 'latin1').toString(), file, line, reason: String(message) });
        return true;
      },
    };
  }

  #isAboutSkipped({ objects }: Subject): boolean {
    return objects.every((each) => this.#skipped.has(each));
  }
}

interface Subject {
  /** Event triggers or publications, each with its kind and name. */
  readonly objects: readonly [string, ...string[]];
  /** Whether only a superuser may run the statement, whoever owns what is in it. */
  readonly isForSuperusers: boolean;
}

/** Returns undefined unless the statement creates, changes, drops or comments on event triggers or publications. */
function subjectOf(statement: string): Subject | undefined {
  // Only the first word is read, because the data of an INSERT can be long.
  const [verb] = tokensOf(statement, 1);
  const is = (...words: readonly string[]) => words.some((word) => isKeyword(verb, word));
  if (!is('create', 'alter', 'drop', 'comment')) return undefined;
  const tokens = [...tokensOf(statement)].slice(is('comment') ? 2 : 1);
  const isEvent = hasKeywords(tokens, 'event', 'trigger');
  if (!isEvent && !isKeyword(tokens[0], 'publication')) return undefined;
  const kind = isEvent ? 'event trigger' : 'publication';
  const named = tokens.slice(isEvent ? 2 : 1);
  const [first, ...more] = readNames(hasKeywords(named, 'if', 'exists') ? named.slice(2) : named);
  if (first === undefined) return undefined;
  const isForSuperusers = isEvent ? is('create') : is('create', 'alter') && isOfAllOrSchemas(named);
  return { objects: [`${kind} ${first}`, ...more.map((name) => `${kind} ${name}`)], isForSuperusers };
}

const hasKeywords = (tokens: readonly MeaningfulToken[], ...words: readonly string[]): boolean =>
  words.every((word, index) => isKeyword(tokens[index], word));

/** Reads names with commas between them. */
function readNames(tokens: readonly MeaningfulToken[]): string[] {
  const name = identifierIn(tokens[0]);
  if (name === undefined) return [];
  return tokens[1]?.text === ',' ? [name, ...readNames(tokens.slice(2))] : [name];
}

/** Whether a publication is one `FOR ALL TABLES`, or has `TABLES IN SCHEMA`, outside of the conditions of its tables. */
function isOfAllOrSchemas(tokens: readonly MeaningfulToken[]): boolean {
  let depth = 0;
  return tokens.some(({ text }, index) => {
    depth += text === '(' ? 1 : text === ')' ? -1 : 0;
    const rest = tokens.slice(index, index + 3);
    return depth === 0 && (hasKeywords(rest, 'for', 'all') || hasKeywords(rest, 'tables', 'in', 'schema'));
  });
}
