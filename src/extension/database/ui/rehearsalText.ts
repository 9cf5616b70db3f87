/** What a rehearsal has seen, as Markdown: the verdict first, then each statement. */
import { env, l10n } from 'vscode';
import { OTHER_SERVICES_VARIABLE, type AssumedVariables } from '../../../api/addresses/addressGroups.ts';
import { escapeMarkdown } from '../../../base/sanitize.ts';
import { shortLine } from '../../../base/shortLine.ts';
import type { RehearsalReport } from '../../../rehearsal/report.ts';
import { lockPicture } from '../../../rehearsal/text/lockPicture.ts';
import { placeText, ReportTexts } from '../../../rehearsal/text/reportTexts.ts';
import { windowTranslator } from '../../window/ui/translator.ts';

interface RehearsalPlace {
  /** The name of the file, or the command. */
  readonly name: string;
  readonly branch: string;
  readonly time: Date;
  /** The end of what the command has written. */
  readonly output: string;
  /** The variables that the command got with other values although nothing says that they lead to Postgres. */
  readonly assumed?: AssumedVariables | undefined;
}

/** The most characters of a statement in a table. */
const MAX_STATEMENT = 200;

const reportTexts = new ReportTexts(windowTranslator);

/** Returns a sentence for each reason why the migration isn't safe, or one that says that it is. */
export const verdictSentences = (report: RehearsalReport): readonly string[] =>
  reportTexts.verdictSentences(report);

export function rehearsalText(
  report: RehearsalReport,
  { name, branch, time, output, assumed }: RehearsalPlace,
): string {
  const texts = reportTexts;
  const [first = '', ...others] = texts.verdictSentences(report).map(escapeMarkdown);
  const when = time.toLocaleString(env.language);
  const rewritten = texts.rewrittenTables(report).map(escapeMarkdown);
  const { wayBack } = report;
  return [
    `# ${first}`,
    ...others.map((sentence) => `- ${sentence}`),
    ...texts.undoNotes(report).map(escapeMarkdown),
    escapeMarkdown(
      l10n.t('{0} on a copy of {1}, {2}. The copy is deleted. Nothing else was changed.', name, branch, when),
    ),
    ...report.files.map((file) => `- ${escapeMarkdown(texts.fileVerdict(file))}`),
    ...texts.copyNotes(report).map(escapeMarkdown),
    ...(assumed === undefined ? [] : [escapeMarkdown(assumedText(assumed))]),
    ...(report.statements.length === 0 ? [] : [statementTable(report, texts)]),
    ...lockSection(report, texts),
    ...(wayBack === undefined ? [] : [`## ${l10n.t('Way back')}`, statementTable(wayBack, texts)]),
    ...(wayBack === undefined || wayBack.left.length === 0
      ? []
      : [l10n.t('This remains in the schema afterwards:'), ...indentedLines(wayBack.left)]),
    ...texts.wayBackNotes(report).map(escapeMarkdown),
    ...(rewritten.length === 0
      ? []
      : [`## ${l10n.t('Tables written again')}`, ...rewritten.map((table) => `- ${table}`)]),
    ...texts.trialNotes(report).map(escapeMarkdown),
    ...(report.verdict === 'failed' && output !== ''
      ? [`## ${l10n.t('Output')}`, ...indentedLines(output.split('\n'))]
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

const assumedText = ({ names, services }: AssumedVariables): string =>
  l10n.t(
    "These variables may lead to a database, so the command got those of the copy instead: {0}. If they belong to other services, start VS Code with {1} in its environment, and they stay. Otherwise, start it with {2}, and this isn't said again.",
    names.join(', '),
    `${OTHER_SERVICES_VARIABLE}=${services}`,
    `${OTHER_SERVICES_VARIABLE}=none`,
  );

/**
 * Returns the picture of the locks. It is HTML, because only so it has a text for screen readers, and lines that aren't wrapped in a
 * narrow editor. Text in `pre` would get a button.
 */
function lockSection(report: RehearsalReport, texts: ReportTexts): string[] {
  const picture = lockPicture(report, texts, windowTranslator);
  if (picture === undefined) return [];
  const label = escapeHtml(picture.alternative);
  const lines = picture.lines.map(escapeHtml).join('\n');
  return [
    `## ${l10n.t('Locks over time')}`,
    `<div role="img" aria-label="${label}" style="${PICTURE_STYLE}">${lines}</div>`,
  ];
}

const PICTURE_STYLE =
  'white-space: pre; overflow-x: auto; line-height: 1.4; font-family: var(--vscode-editor-font-family), monospace';

const escapeHtml = (text: string): string =>
  text.toWellFormed().replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Indents lines, which Markdown then shows as they are. */
const indentedLines = (lines: readonly string[]): string[] =>
  lines.map((line) => `    ${line.toWellFormed()}`);

function statementTable(
  { statements, blocked, safer }: Pick<RehearsalReport, 'statements' | 'blocked' | 'safer'>,
  texts: ReportTexts,
): string {
  const row = (cells: readonly string[]) => `| ${cells.map(escapeMarkdown).join(' | ')} |`;
  const head = [l10n.t('Statement'), l10n.t('Time'), l10n.t('Who waits'), l10n.t('Result')];
  if (safer.length > 0) head.push(l10n.t('Safer form'));
  return [
    row(head),
    `|${' --- |'.repeat(head.length)}`,
    ...statements.map((statement, index) => {
      const { text, milliseconds, tags, error } = statement;
      return row([
        shortLine(text, MAX_STATEMENT) + placeText(statement),
        texts.duration(milliseconds),
        texts.waitTexts(blocked, index).join(', '),
        error?.message ?? tags.join(', '),
        ...(safer.length > 0 ? [texts.saferTexts(safer, index).join(' ')] : []),
      ]);
    }),
  ].join('\n');
}
