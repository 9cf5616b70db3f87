/** Formats a report for programs and terminals, in English and without colors. */
import { shortLine } from '../../base/shortLine.ts';
import { ENGLISH } from '../../base/translator.ts';
import type { RehearsalReport } from '../report.ts';
import { lockPicture } from './lockPicture.ts';
import { placeText, ReportTexts } from './reportTexts.ts';

export const ENGLISH_TEXTS = new ReportTexts(ENGLISH);

/** The most characters of a statement. */
const MAX_STATEMENT = 100;

/**
 * Returns the verdict, also of each file, then each statement, the picture of the locks, the statements of the way back, and
 * notes.
 */
export function plainReportText(report: RehearsalReport): string {
  const { wayBack } = report;
  const picture = lockPicture(report, ENGLISH_TEXTS, ENGLISH)?.lines ?? [];
  const notes = [
    ...ENGLISH_TEXTS.rewrittenTables(report).map((table) => `Written again: ${table}`),
    ...reportNotes(report),
  ];
  return [
    ...ENGLISH_TEXTS.verdictSentences(report),
    ...report.files.map((file) => `  ${ENGLISH_TEXTS.fileVerdict(file)}`),
    '',
    ...statementRows(report),
    ...(picture.length === 0 ? [] : ['', ...picture.map((line) => `  ${line}`)]),
    ...(wayBack === undefined ? [] : ['', 'Way back:', ...statementRows(wayBack)]),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ].join('\n');
}

/** Returns notes about what else is worth knowing. */
export const reportNotes = (report: RehearsalReport): readonly string[] => [
  ...ENGLISH_TEXTS.copyNotes(report),
  ...ENGLISH_TEXTS.trialNotes(report),
  ...(report.wayBack?.left ?? []).map((line) => `The way back leaves: ${line}`),
  ...ENGLISH_TEXTS.wayBackNotes(report),
  ...ENGLISH_TEXTS.undoNotes(report),
];

const statementRows = ({
  statements,
  blocked,
  safer,
}: Pick<RehearsalReport, 'statements' | 'blocked' | 'safer'>): string[] =>
  statements.map((statement, index) => {
    const { text, milliseconds, tags, error } = statement;
    const time = ENGLISH_TEXTS.duration(milliseconds).padStart(8);
    return [
      `  ${time}  ${shortLine(text, MAX_STATEMENT)}${placeText(statement)}`,
      error === undefined ? tags.join(', ') : `ERROR: ${error.message}`,
      ...ENGLISH_TEXTS.waitTexts(blocked, index),
      ...ENGLISH_TEXTS.saferTexts(safer, index).map((form) => `Safer: ${form}`),
    ]
      .filter((part) => part !== '')
      .join('\n            ');
  });
