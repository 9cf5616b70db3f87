/** What a rehearsal says: its verdict first, then each statement. */
import {
  relationKey,
  type HeldLock,
  type Rehearsal,
  type RehearsedStatement,
} from '../api/records/rehearsal.ts';
import { BLOCKED, blockedTables, type BlockedTable } from './blockedTables.ts';
import { foundLosses, type Loss } from './losses.ts';
import { fileVerdicts, lastError, reasonStatement, type FileVerdict } from './reasonStatement.ts';
import { SAFER_FORMS, saferStatements, type SaferStatement } from './saferForms.ts';
import { NOTHING_TRIED, type Tried } from './trials.ts';
import { FAILURES, uncommittedReasons, type Reason, type Verdict } from './verdict.ts';
import type { SchemaLines } from './wayBack.ts';

/** How long others may wait for a table, by default. Milliseconds. */
export const LONGEST_LOCK = 1000;

export interface Rules {
  /** How long others may wait for a table. Milliseconds. */
  readonly longestLock: number;
  /** How long the history of the branch reaches back. */
  readonly historySeconds?: number | undefined;
}

export interface Report {
  readonly verdict: Verdict;
  /** The verdict; none if it is safe. */
  readonly reasons: readonly Reason[];
  /** The verdict as text, one sentence for each reason. */
  readonly sentences: readonly string[];
  readonly blocked: readonly BlockedTable[];
  readonly losses: readonly Loss[];
  readonly rewritten: readonly { readonly table: string; readonly bytes: number }[];
  readonly statements: readonly RehearsedStatement[];
  readonly locks: readonly HeldLock[];
  /** For what was seen to be dangerous. */
  readonly safer: readonly SaferStatement[];
  /** The longest time between two samples of locks, in milliseconds; missing if every statement was seen. */
  readonly sampled?: number;
  readonly tried: Tried;
  /** The roles of the copy that had the passwords of the branch that was copied. */
  readonly sharedRoles: readonly string[];
  /** Empty if the files aren't known. */
  readonly files: readonly FileVerdict[];
  /** Missing if no down step is known. */
  readonly wayBack?: Pick<Report, 'blocked' | 'statements' | 'safer'> & {
    readonly left: readonly string[];
    /** Rows that weren't there before. */
    readonly added: readonly { readonly table: string; readonly count: number }[];
  };
  /** How long Undo reaches back, in seconds, if something is lost that nothing else brings back. */
  readonly undoSeconds?: number;
}

export interface WayBackRun {
  readonly rehearsal: Rehearsal;
  /** Compared with the data as they were before the migration. */
  readonly losses: readonly Loss[];
  readonly schema: SchemaLines;
  readonly exitCode: number;
}

export interface RehearsedRun {
  readonly rehearsal: Rehearsal;
  readonly losses: readonly Loss[];
  readonly tried: Tried;
  /** Of the command. */
  readonly exitCode: number;
  /** Those of the migration, in the order in which they run. */
  readonly files?: readonly string[];
  readonly sharedRoles?: readonly string[];
  readonly wayBack?: WayBackRun | undefined;
}

export function reportOf(run: RehearsedRun, { longestLock, historySeconds }: Rules): Report {
  const { rehearsal, losses, tried, exitCode, wayBack, files = [], sharedRoles = [] } = run;
  const { statements } = rehearsal;
  const lost = foundLosses(losses);
  // Samples can miss a short session.
  const isUnused = statements.length === 0 && exitCode === 0 && rehearsal.sampled === undefined;
  const found = [...(isUnused ? [{ kind: 'unused' } as const] : []), ...reasonsOf(run, longestLock)];
  const back = wayBack && reasonsOf({ ...wayBack, tried: NOTHING_TRIED }, longestLock);
  const forgotten = wayBack?.schema.forgotten ?? [];
  const reasons: Reason[] = [
    ...found,
    ...(back ?? []).map((reason) => ({ kind: 'wayBack', reason }) as const),
    ...(forgotten.length === 0
      ? []
      : [{ kind: 'wayBack', reason: { kind: 'forgotten', lines: forgotten } } as const]),
  ];
  const isFailed = found.some(({ kind }) => FAILURES.has(kind));
  const blocked = blockedTables(rehearsal);
  return {
    verdict: isFailed ? 'failed' : reasons.length > 0 ? 'dangerous' : 'safe',
    reasons,
    sentences:
      reasons.length === 0
        ? [safeSentence(statements, blocked)]
        : reasons.map((reason) => sentenceOf(reason) + placeOf(reasonStatement(rehearsal, reason))),
    blocked,
    losses: lost,
    rewritten: rewrittenTables(rehearsal),
    statements,
    locks: rehearsal.locks,
    files: fileVerdicts(rehearsal, found, files),
    safer: saferStatements(found, rehearsal),
    ...(rehearsal.sampled !== undefined && { sampled: rehearsal.sampled }),
    tried,
    sharedRoles,
    ...(wayBack && {
      wayBack: {
        blocked: blockedTables(wayBack.rehearsal),
        statements: wayBack.rehearsal.statements,
        safer: saferStatements(back ?? [], wayBack.rehearsal),
        left: wayBack.schema.left,
        added: wayBack.losses.flatMap(({ name, count }) => (count < 0 ? { table: name, count: -count } : [])),
      },
    }),
    ...(wayBack === undefined &&
      lost.length > 0 &&
      exitCode === 0 &&
      historySeconds !== undefined && { undoSeconds: historySeconds }),
  };
}

/** Of a migration, or of its way back. */
function reasonsOf({ rehearsal, losses, tried, exitCode }: RehearsedRun, longestLock: number): Reason[] {
  const { statements, sampled = 0 } = rehearsal;
  const tooSeldom = sampled > longestLock ? `Locks were read only every ${duration(sampled)}.` : undefined;
  const { problem = tooSeldom } = rehearsal;
  const long = blockedTables(rehearsal).filter(
    ({ blocks, milliseconds }) => blocks !== BLOCKED[2] && milliseconds >= longestLock,
  );
  return [
    ...(exitCode === 0 ? [] : [{ kind: 'failed', exitCode, ...lastError(statements) } as const]),
    ...(problem === undefined ? [] : [{ kind: 'incomplete', problem } as const]),
    // A command that fails often leaves its transaction open.
    ...(exitCode === 0 ? uncommittedReasons(statements) : []),
    ...foundLosses(losses).map((loss) => ({ kind: 'loss', loss }) as const),
    ...tried.broken.map((broken) => ({ kind: 'broken', broken }) as const),
    ...long.map((each) => ({ kind: 'blocked', blocked: each }) as const),
  ];
}

/** As text for a terminal, without colors. */
export function textOf(report: Report): string {
  const { sentences, wayBack } = report;
  const notes = [
    ...report.rewritten.map(({ table, bytes }) => `Written again: ${table} (${size(bytes)})`),
    ...furtherNotes(report),
  ];
  return [
    ...sentences,
    ...report.files.map(({ file, verdict }) => `  ${file}: ${verdict}`),
    '',
    ...statementRows(report),
    ...(wayBack === undefined ? [] : ['', 'Way back:', ...statementRows(wayBack)]),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n');
}

function statementRows({
  statements,
  blocked,
  safer,
}: Pick<Report, 'statements' | 'blocked' | 'safer'>): string[] {
  return statements.map((statement, index) => {
    const own = blocked.filter((each) => each.statements.includes(index));
    const locks = own.map(
      (each) => `${each.table}: ${blockedOf(each)} wait up to ${duration(each.milliseconds)}`,
    );
    const ended =
      statement.error === undefined ? statement.tags.join(', ') : `ERROR: ${statement.error.message}`;
    return [
      `  ${duration(statement.milliseconds).padStart(8)}  ${firstLine(statement.text)}${placeOf(statement)}`,
      ended,
      ...locks,
      ...saferTexts(safer, index).map((text) => `Safer: ${text}`),
    ]
      .filter((part) => part !== '')
      .join('\n            ');
  });
}

export const saferTexts = (safer: readonly SaferStatement[], index: number): string[] =>
  safer.filter(({ statement }) => statement === index).map(({ form }) => SAFER_FORMS[form]);

/** What else is worth knowing. */
export const furtherNotes = ({
  tried: { tooSlow, outside },
  wayBack,
  undoSeconds,
  sampled,
  sharedRoles,
}: Report): readonly string[] => [
  ...(sampled === undefined
    ? []
    : [
        `Sampled through a second connection, because this service doesn't show statements. What is shorter than ${duration(sampled)} can be missing.`,
      ]),
  ...sharedRoles.map((name) => `The copy had the password of the branch for ${name}.`),
  ...tooSlow.map((name) => `Not tried, because it takes too long: ${name}`),
  ...outside.map(
    (name) => `No triggers and views were tried, because they may reach outside of the database: ${name}`,
  ),
  ...(wayBack?.left ?? []).map((line) => `The way back leaves: ${line}`),
  ...(wayBack?.added ?? []).map(
    ({ table, count }) => `The way back leaves: ${rowsText(count)} more in ${table}`,
  ),
  ...(undoSeconds === undefined ? [] : [`The only known way back is Undo, for ${hours(undoSeconds)}.`]),
];

/** Postgres has given them another file. One that was truncated is empty, and not in the list. */
function rewrittenTables({ before, after }: Rehearsal): Report['rewritten'] {
  const now = new Map(after.map((each) => [relationKey(each), each]));
  return before.flatMap((relation) => {
    const same = now.get(relationKey(relation));
    if (same === undefined || same.file === relation.file || same.bytes === 0 || relation.kind === 'i')
      return [];
    return [{ table: relation.name, bytes: same.bytes }];
  });
}

function sentenceOf(reason: Reason): string {
  switch (reason.kind) {
    case 'failed':
      return failureSentence(reason);
    case 'incomplete':
      return `Incomplete: ${reason.problem}`;
    case 'unused':
      return 'Nothing was rehearsed: no statement reached the copy. A command must connect to DATABASE_URL.';
    case 'uncommitted':
      return `Isn't committed: a connection ends after "${firstLine(reason.statement.text)}", so its transaction is rolled back.`;
    case 'loss':
      return lossSentence(reason.loss);
    case 'broken':
      return `Breaks ${reason.broken.does} of ${reason.broken.name}: ${reason.broken.error}`;
    case 'blocked':
      return blockSentence(reason.blocked);
    case 'forgotten':
      return `Forgets of the schema: ${firstLine(reason.lines.join(' '))}`;
    case 'wayBack':
      return `Way back: ${sentenceOf(reason.reason)}`;
  }
}

/** Such as ` (0007_unique.sql:12)`. */
const placeOf = (statement: RehearsedStatement | undefined): string =>
  statement?.place === undefined ? '' : ` (${statement.place.file}:${statement.place.line})`;

function failureSentence({ statement, exitCode, hasGoneOn }: Extract<Reason, { kind: 'failed' }>): string {
  const ended = `Fails: the command ended with code ${exitCode}.`;
  if (statement?.error === undefined) return ended;
  const { message, detail } = statement.error;
  const text = `at "${firstLine(statement.text)}": ${message}${detail === undefined ? '' : `. ${detail}`}`;
  return hasGoneOn ? `${ended} The last error of Postgres was ${text}` : `Fails ${text}`;
}

const lossSentence = ({ name, kind, count, types }: Loss): string =>
  kind === 'type'
    ? `Changes values of ${name}${types === undefined ? '' : `: ${types}`}.`
    : `Loses ${count.toLocaleString('en')} ${count === 1 ? kind.slice(0, -1) : kind} of ${name}.`;

function blockSentence(each: BlockedTable): string {
  const blocked = each.blocks === 'reads' ? 'reads and writes' : blockedOf(each);
  return `Blocks ${each.rows === undefined ? 'all ' : ''}${blocked} of ${each.table} for ${duration(each.milliseconds)}.`;
}

const blockedOf = ({ blocks, rows }: BlockedTable): string =>
  rows === undefined ? blocks : `${blocks} of ${rowsText(rows)}`;

const rowsText = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`;

function safeSentence(statements: readonly RehearsedStatement[], blocked: readonly BlockedTable[]): string {
  const count = `${statements.length} ${statements.length === 1 ? 'statement' : 'statements'}`;
  const time = duration(statements.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  const [longest] = blocked;
  const lock =
    longest === undefined
      ? 'no lock that others would notice'
      : `others wait ${duration(longest.milliseconds)} at most`;
  return `Safe: ${count}, ${time}, ${lock}.`;
}

const firstLine = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > 100 ? `${line.slice(0, 99)}…` : line;
};

const duration = (milliseconds: number): string =>
  milliseconds < 1000
    ? `${Math.max(1, Math.round(milliseconds))} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;

const size = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

const hours = (seconds: number): string => `${Math.floor(seconds / 3600)} hours`;
