/** What is dangerous in a migration that was saved, each at its statement, or else at the first line. */
import { Diagnostic, DiagnosticSeverity, Range } from 'vscode';
import { safeText } from '../../window/ui/window.ts';
import type { SavedRehearsal, SavingDependencies, FileToRehearse } from '../rehearsals/rehearseSaved.ts';
import { verdictSentences } from './rehearsalText.ts';

/** Rehearses the file. @returns no problem if nothing is dangerous */
export async function rehearseForProblems(
  deps: SavingDependencies,
  saved: FileToRehearse,
  signal: AbortSignal,
): Promise<Diagnostic[]> {
  // This import loads the driver of Postgres, which most windows never need.
  const { rehearseSaved } = await import('../rehearsals/rehearseSaved.ts');
  const found = await rehearseSaved(deps, saved, signal);
  return found === undefined ? [] : problemsOf(found);
}

function problemsOf({ report, places, failure }: SavedRehearsal): Diagnostic[] {
  const sentences = verdictSentences(report);
  return report.reasons.map((reason, index) => {
    const [start, end] = places[index] ?? FIRST_LINE;
    const range = new Range(start.line, start.character, end.line, end.character);
    const isFailure = reason.kind === 'failed';
    const text = (isFailure && failure) || (sentences[index] ?? '');
    const severity = isFailure ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning;
    return Object.assign(new Diagnostic(range, safeText(text), severity), { source: 'Hosted Postgres' });
  });
}

/** The whole first line. VS Code shortens the range to the length of the line. */
const FIRST_LINE = [
  { line: 0, character: 0 },
  { line: 0, character: Number.MAX_SAFE_INTEGER },
] as const;
