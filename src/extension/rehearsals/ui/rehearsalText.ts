/** What a rehearsal has seen, as Markdown: the verdict first, then each statement. */
import { env, l10n } from 'vscode';
import { escapeMarkdown } from '../../../base/sanitize.ts';
import type { RehearsedStatement } from '../../../api/records/rehearsal.ts';
import type { BlockedTable } from '../../../rehearsal/blockedTables.ts';
import type { Loss } from '../../../rehearsal/losses.ts';
import { reasonStatement, type FileVerdict } from '../../../rehearsal/reasonStatement.ts';
import type { Report } from '../../../rehearsal/report.ts';
import type { Reason } from '../../../rehearsal/verdict.ts';
import type { Broken } from '../../../rehearsal/trials.ts';
import { bytesText } from '../../inventory/ui/branchText.ts';
import { saferText } from './saferText.ts';

interface RehearsalPlace {
  /** The name of the file, or the command. */
  readonly name: string;
  readonly branch: string;
  readonly time: Date;
  /** The end of what the command has written. */
  readonly output: string;
}

/** Characters of a statement in a table, and in the verdict. */
const MAX_STATEMENT = 200;
const MAX_QUOTED = 80;

export const verdictSentences = (report: Report): readonly string[] =>
  report.reasons.length === 0
    ? [safeSentence(report)]
    : report.reasons.map((reason) => sentenceOf(reason) + placeText(reasonStatement(report, reason)));

/** Such as ` (0007_unique.sql:12)`. */
const placeText = (statement: RehearsedStatement | undefined): string =>
  statement?.place === undefined ? '' : ` (${statement.place.file}:${statement.place.line})`;

function verdictText(verdict: FileVerdict['verdict']): string {
  switch (verdict) {
    case 'safe':
      return l10n.t('safe');
    case 'dangerous':
      return l10n.t('dangerous');
    case 'failed':
      return l10n.t('failed');
    case 'not run':
      return l10n.t('not run');
    case 'unclear':
      return l10n.t('unclear');
  }
}

export function rehearsalText(report: Report, { name, branch, time, output }: RehearsalPlace): string {
  const [first = '', ...others] = verdictSentences(report).map(escapeMarkdown);
  const when = time.toLocaleString(env.language);
  const { rewritten, tried, wayBack, undoSeconds } = report;
  return [
    `# ${first}`,
    ...others.map((sentence) => `- ${sentence}`),
    escapeMarkdown(
      l10n.t('{0} on a copy of {1}, {2}. The copy is deleted. Nothing else was changed.', name, branch, when),
    ),
    ...report.files.map((each) => `- ${escapeMarkdown(`${each.file}: ${verdictText(each.verdict)}`)}`),
    ...copyTexts(report),
    ...(report.statements.length === 0 ? [] : [statementTable(report)]),
    ...(wayBack === undefined ? [] : [`## ${l10n.t('Way back')}`, statementTable(wayBack)]),
    ...(wayBack === undefined || wayBack.left.length === 0
      ? []
      : [l10n.t('This is left in the schema:'), ...wayBack.left.map((line) => `    ${line.toWellFormed()}`)]),
    ...(wayBack?.added ?? []).map(({ table, count }) =>
      escapeMarkdown(l10n.t('Rows that it leaves in {0}: {1}', table, numberText(count))),
    ),
    ...(undoSeconds === undefined ? [] : [escapeMarkdown(undoText(undoSeconds))]),
    ...(rewritten.length === 0
      ? []
      : [
          `## ${l10n.t('Tables written again')}`,
          ...rewritten.map(({ table, bytes }) => `- ${escapeMarkdown(`${table} (${sizeText(bytes)})`)}`),
        ]),
    ...tried.tooSlow.map((name) =>
      escapeMarkdown(l10n.t("{0} wasn't tried, because it takes too long.", name)),
    ),
    ...tried.outside.map((name) =>
      escapeMarkdown(
        l10n.t(
          "Triggers and views weren't tried, because they may reach outside of the database with {0}.",
          name,
        ),
      ),
    ),
    ...(report.verdict === 'failed' && output !== ''
      ? [`## ${l10n.t('Output')}`, ...output.split('\n').map((line) => `    ${line.toWellFormed()}`)]
      : []),
    escapeMarkdown(
      l10n.t(
        'The times were measured on the compute of the copy. Rewriting, validating and indexing a table take longer with more rows. Other connections wait until the end of the transaction.',
      ),
    ),
    '',
  ]
    .join('\n\n')
    .replaceAll(/^( {4}.*)\n\n(?= {4})/gm, '$1\n');
}

/** What a service can't do that isn't on this machine. */
const copyTexts = ({ sampled, sharedRoles }: Report): readonly string[] => [
  ...(sampled === undefined
    ? []
    : [
        l10n.t(
          "Statements and locks were read through a second connection, because this service doesn't show them. What is shorter than {0} can be missing, and so can results, and what was done in other databases.",
          durationText(sampled),
        ),
      ]),
  ...sharedRoles.map((name) =>
    escapeMarkdown(l10n.t('The copy had the password of the branch for {0}.', name)),
  ),
];

function statementTable({
  statements,
  blocked,
  safer,
}: Pick<Report, 'statements' | 'blocked' | 'safer'>): string {
  const row = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  const head = [l10n.t('Statement'), l10n.t('Time'), l10n.t('Who waits'), l10n.t('Result')];
  if (safer.length > 0) head.push(l10n.t('Safer form'));
  const saferCell = (index: number) =>
    safer.filter(({ statement }) => statement === index).map(({ form }) => saferText(form));
  return [
    row(head),
    `|${' --- |'.repeat(head.length)}`,
    ...statements.map((statement, index) => {
      const { text, milliseconds, tags, error } = statement;
      return row([
        shortened(text, MAX_STATEMENT) + placeText(statement),
        durationText(milliseconds),
        blocked
          .filter(({ statements: taking }) => taking.includes(index))
          .map(waitingText)
          .join(', '),
        error?.message ?? tags.join(', '),
        ...(safer.length > 0 ? [saferCell(index).join(' ')] : []),
      ]);
    }),
  ].join('\n');
}

/** Such as `reads of public.orders: up to 4.1 sec`. */
function waitingText({ table, blocks, rows, milliseconds }: BlockedTable): string {
  const time = durationText(milliseconds);
  if (rows !== undefined) return l10n.t('writes of the same rows of {0}: up to {1}', table, time);
  switch (blocks) {
    case 'reads':
      return l10n.t('reads and writes of {0}: up to {1}', table, time);
    case 'writes':
      return l10n.t('writes of {0}: up to {1}', table, time);
    case 'changes of its definition':
      return l10n.t('changes of the definition of {0}: up to {1}', table, time);
  }
}

function sentenceOf(reason: Reason): string {
  switch (reason.kind) {
    case 'failed':
      return failureSentence(reason);
    case 'incomplete':
      return l10n.t('Incomplete: {0}', reason.problem);
    case 'unused':
      return l10n.t(
        'Nothing was rehearsed: no statement reached the copy. A command must connect to DATABASE_URL.',
      );
    case 'uncommitted':
      return l10n.t(
        "Isn't committed: a connection ends after “{0}”, so its transaction is rolled back.",
        shortened(reason.statement.text, MAX_QUOTED),
      );
    case 'loss':
      return lossSentence(reason.loss);
    case 'broken':
      return brokenSentence(reason.broken);
    case 'blocked':
      return blockSentence(reason.blocked);
    case 'forgotten':
      return l10n.t('Forgets of the schema: {0}', shortened(reason.lines.join(' '), MAX_STATEMENT));
    case 'wayBack':
      return l10n.t('Way back: {0}', sentenceOf(reason.reason));
  }
}

function failureSentence({ exitCode, statement, hasGoneOn }: Extract<Reason, { kind: 'failed' }>): string {
  if (statement?.error === undefined) return l10n.t('Fails: the command ended with code {0}.', exitCode);
  const { message, detail } = statement.error;
  const quoted = shortened(statement.text, MAX_QUOTED);
  const text = hasGoneOn
    ? l10n.t(
        'Fails: the command ended with code {0}. The last error of Postgres was at “{1}”: {2}',
        exitCode,
        quoted,
        message,
      )
    : l10n.t('Fails at “{0}”: {1}', quoted, message);
  return detail === undefined ? text : `${text}. ${detail}`;
}

function brokenSentence({ does, name, error }: Broken): string {
  switch (does) {
    case 'reads':
      return l10n.t('Breaks reads of {0}: {1}', name, error);
    case 'refreshes':
      return l10n.t('Breaks refreshes of {0}: {1}', name, error);
    case 'updates':
      return l10n.t('Breaks updates of {0}: {1}', name, error);
    case 'deletes or inserts':
      return l10n.t('Breaks deletes or inserts of {0}: {1}', name, error);
  }
}

function lossSentence({ name, kind, count, types }: Loss): string {
  const number = numberText(count);
  if (kind === 'type')
    return types === undefined
      ? l10n.t('Changes values of {0}.', name)
      : l10n.t('Changes values of {0}: {1}.', name, types);
  if (kind === 'rows')
    return count === 1 ? l10n.t('Loses 1 row of {0}.', name) : l10n.t('Loses {0} rows of {1}.', number, name);
  return count === 1
    ? l10n.t('Loses 1 value of {0}.', name)
    : l10n.t('Loses {0} values of {1}.', number, name);
}

function blockSentence({ table, blocks, rows, milliseconds }: BlockedTable): string {
  const time = durationText(milliseconds);
  if (rows === 1) return l10n.t('Blocks writes of 1 row of {0} for {1}.', table, time);
  if (rows !== undefined)
    return l10n.t('Blocks writes of {0} rows of {1} for {2}.', numberText(rows), table, time);
  return blocks === 'reads'
    ? l10n.t('Blocks all reads and writes of {0} for {1}.', table, time)
    : l10n.t('Blocks all writes of {0} for {1}.', table, time);
}

function safeSentence({ statements, blocked: [longest] }: Report): string {
  const count = statements.length === 1 ? l10n.t('1 statement') : l10n.t('{0} statements', statements.length);
  const time = durationText(statements.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
  return longest === undefined
    ? l10n.t('Safe: {0}, {1}, no lock that others would notice.', count, time)
    : l10n.t('Safe: {0}, {1}, others wait {2} at most.', count, time, durationText(longest.milliseconds));
}

const undoText = (seconds: number): string =>
  l10n.t('The only known way back is Undo, for {0}.', inUnit(Math.floor(seconds / 3600), 'hour', 0));

const numberText = (value: number): string => value.toLocaleString(env.language);

const shortened = (text: string, length: number): string => {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

const inUnit = (value: number, unit: string, digits: number): string =>
  new Intl.NumberFormat(env.language, {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: digits,
  }).format(value);

const durationText = (milliseconds: number): string =>
  milliseconds < 1000
    ? inUnit(Math.max(1, Math.round(milliseconds)), 'millisecond', 0)
    : inUnit(milliseconds / 1000, 'second', 1);

const sizeText = (bytes: number): string =>
  bytes < 1e6 ? inUnit(bytes / 1000, 'kilobyte', 0) : bytesText(bytes);
