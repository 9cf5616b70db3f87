/**
 * Shows documents about rehearsals. They are registered with the app and not at activation, which must be short. What a rehearsal
 * has seen is forgotten with the window anyway.
 */
import { l10n, workspace } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import { REHEARSAL_SCHEME, type RehearsalDocuments } from '../rehearsals/rehearsalDocuments.ts';

export const provideRehearsals = (documents: RehearsalDocuments): Disposable =>
  workspace.registerTextDocumentContentProvider(REHEARSAL_SCHEME, {
    provideTextDocumentContent: (uri) => documents.text(uri) ?? `${forgottenText()}\n`,
  });

const forgottenText = (): string =>
  l10n.t('This rehearsal is no longer in memory. Run “Hosted Postgres: Rehearse Migration…” again.');
