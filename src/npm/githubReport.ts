/** Reports a rehearsal in GitHub Actions: each sentence as an annotation, and the whole report in the summary of the job. */
import { appendFileSync } from 'node:fs';
import type { RehearsalReport } from '../rehearsal/report.ts';
import { ENGLISH_TEXTS, plainReportText } from '../rehearsal/text/terminalReport.ts';
import type { Verdict } from '../rehearsal/verdict.ts';

const LEVELS: Readonly<Record<Verdict, string>> = { safe: 'notice', dangerous: 'warning', failed: 'error' };

/**
 * Reports a rehearsal to GitHub.
 * @param file the file to append the summary to, if there is one
 * @returns the annotations, as lines of a step's output
 */
export function reportToGitHub(report: RehearsalReport, summary: string, file: string | undefined): string {
  if (file !== undefined && file !== '') appendFileSync(file, summary);
  return ENGLISH_TEXTS.verdictSentences(report)
    .map((sentence) => `::${LEVELS[report.verdict]} title=Migration rehearsal::${escapeCommand(sentence)}\n`)
    .join('');
}

/** Returns an annotation with a warning, which changes no verdict. */
export const warningAnnotation = (text: string): string =>
  `::warning title=Migration rehearsal::${escapeCommand(text)}\n`;

/** Returns the summary as Markdown. A block of indented text needs no escapes. */
export const githubJobSummary = (heading: string, report: RehearsalReport): string =>
  `### ${heading}\n\n${plainReportText(report).replaceAll(/^/gm, '    ')}\n\n`;

/** Escapes text as GitHub's own toolkit does. */
const escapeCommand = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
