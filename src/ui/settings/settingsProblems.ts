/** What is wrong with a settings document, shown on the setting it is about. */
import { Diagnostic, DiagnosticSeverity, l10n, languages, Range, type TextDocument, type Uri } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { topLevelKeys } from '../../model/jsonKeys.ts';
import { parseSettings, type SettingsProblem } from '../../model/pgSettings.ts';
import type { SettingsFile } from './settingsFile.ts';

export class SettingsProblems implements Disposable {
  readonly #disposables = new DisposableStore();
  readonly #shown = this.#disposables.add(languages.createDiagnosticCollection('hosted-postgres-settings'));

  /** Looks at the document anew. @param file undefined when only its text counts */
  update(document: TextDocument, file: SettingsFile | undefined): void {
    const text = document.getText();
    const found = problemsOf(text).map((problem) => at(document, keyOf(problem), words(problem)));
    const refusal = refusalFor(text, file);
    if (refusal !== undefined) found.push(at(document, refusal.key, refusal.words));
    if (found.length === 0 && file?.isDraft === true && !document.isDirty) found.push(notApplied(document));
    this.#shown.set(document.uri, found);
  }

  clear(uri: Uri): void {
    this.#shown.delete(uri);
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

const problemsOf = (text: string): readonly SettingsProblem[] =>
  // Broken JSON is told by the JSON language itself, in the right place.
  (parseSettings(text).problems ?? []).filter(({ kind }) => kind !== 'syntax');

const keyOf = (problem: SettingsProblem): string | undefined => ('key' in problem ? problem.key : undefined);

/** A refusal holds until the value it is about is another. */
function refusalFor(text: string, file: SettingsFile | undefined) {
  const refusal = file?.refusal;
  if (refusal === undefined || refusal.key === undefined) return file?.text === text ? refusal : undefined;
  const { settings } = { settings: undefined, ...parseSettings(text) };
  return settings === undefined || settings[refusal.key] === refusal.value ? refusal : undefined;
}

function at(document: TextDocument, key: string | undefined, message: string): Diagnostic {
  const place = topLevelKeys(document.getText()).findLast((each) => each.key === key);
  const range =
    place === undefined
      ? document.lineAt(0).range
      : new Range(document.positionAt(place.start), document.positionAt(place.end));
  return ours(new Diagnostic(range, message, DiagnosticSeverity.Error));
}

const notApplied = (document: TextDocument): Diagnostic =>
  ours(
    new Diagnostic(
      document.lineAt(0).range,
      l10n.t('Saved, but not applied to the compute. Save again to apply.'),
      DiagnosticSeverity.Warning,
    ),
  );

function ours(diagnostic: Diagnostic): Diagnostic {
  diagnostic.source = 'Hosted Postgres';
  return diagnostic;
}

function words(problem: SettingsProblem): string {
  switch (problem.kind) {
    case 'syntax':
      return l10n.t('This is not JSON.');
    case 'notAnObject':
      return l10n.t('Expected an object with names and values of Postgres settings.');
    case 'value':
      return l10n.t('The value must be a string, a number, true or false.');
    case 'fixed':
      return problem.key.toLowerCase() === 'shared_buffers'
        ? l10n.t('shared_buffers is fixed at 128 MB on every compute.')
        : l10n.t(
            'max_connections depends on the compute size (with autoscaling, on the minimum). Change the size instead.',
          );
    default:
      return problem satisfies never;
  }
}
