/** The problems of a settings document, each at its setting. */
import { Diagnostic, DiagnosticSeverity, l10n, Range, type TextDocument } from 'vscode';
import { parsePgSettings, settingNamedIn, type SettingsProblem } from '../settings/pgSettings.ts';
import { safeText } from '../../window/ui/window.ts';

/** The text of a settings document that the service has rejected, and the reason. */
export interface RejectedText {
  readonly text: string;
  readonly reason: string;
}

export function createDiagnostics(document: TextDocument, rejected: RejectedText | undefined): Diagnostic[] {
  const text = document.getText();
  const parsed = parsePgSettings(text);
  const found = (parsed.problems ?? []).flatMap((problem) => {
    const message = problemText(problem);
    const key = 'key' in problem ? problem.key : undefined;
    return message === undefined ? [] : errorDiagnostic(document, key, message);
  });
  if (rejected !== undefined && rejected.text === text) {
    const { reason } = rejected;
    found.push(errorDiagnostic(document, settingNamedIn(reason, Object.keys(parsed.settings ?? {})), reason));
  }
  for (const diagnostic of found) diagnostic.source = 'Hosted Postgres';
  return found;
}

function errorDiagnostic(document: TextDocument, key: string | undefined, message: string): Diagnostic {
  const name = JSON.stringify(key ?? '');
  const start = key === undefined ? -1 : document.getText().lastIndexOf(name);
  const range =
    start < 0
      ? document.lineAt(0).range
      : new Range(document.positionAt(start), document.positionAt(start + name.length));
  return new Diagnostic(range, safeText(message), DiagnosticSeverity.Error);
}

export const problemsText = (problems: readonly SettingsProblem[]): string =>
  problems
    .map((problem) =>
      problem.kind === 'syntax'
        ? l10n.t("The document isn't valid JSON: {0}.", problem.reason)
        : [problem.kind === 'value' ? `${problem.key}: ` : '', problemText(problem)].join(''),
    )
    .join(' ');

/** Returns the message of a problem; undefined for syntax errors, which VS Code's JSON support reports. */
function problemText(problem: SettingsProblem): string | undefined {
  if (!('key' in problem))
    return problem.kind === 'notAnObject'
      ? l10n.t('Expected an object with names and values of Postgres settings.')
      : undefined;
  if (problem.kind === 'value') return l10n.t('The value must be a string, a number, true or false.');
  return problem.key.toLowerCase() === 'shared_buffers'
    ? l10n.t('shared_buffers is fixed at 128 MB on every compute.')
    : l10n.t(
        'max_connections depends on the compute size (with autoscaling, on the minimum). Change the size instead.',
      );
}
