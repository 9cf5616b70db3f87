/** If the user wants it, rehearses each migration when it is saved, and shows what is dangerous as a problem at its statement. */
import path from 'node:path';
import { l10n, languages, ProgressLocation, workspace, type TextDocument } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { WorkFolders } from '../../gitBranch/ui/workFolders.ts';
import type { Config } from '../../window/ui/config.ts';
import { window } from '../../window/ui/window.ts';
import type { RehearsalDocuments } from '../rehearsals/rehearsalDocuments.ts';
import type { SavingDependencies } from '../rehearsals/rehearseSaved.ts';
import type { rehearseForProblems } from './rehearsalProblems.ts';

interface Dependencies extends SavingDependencies {
  readonly config: Config;
  readonly rehearsals: RehearsalDocuments;
  readonly workFolders: WorkFolders;
  findProblems(...saved: Parameters<FindProblems>): ReturnType<FindProblems>;
}

type FindProblems = typeof rehearseForProblems;

export function rehearseOnSave(deps: Dependencies): Disposable {
  const { config, log } = deps;
  const disposables = new DisposableStore();
  const problems = disposables.add(languages.createDiagnosticCollection('hosted-postgres-rehearsal'));
  const runs = new Map<TextDocument, AbortController>();
  const forget = (document: TextDocument) => {
    runs.get(document)?.abort();
    runs.delete(document);
    problems.delete(document.uri);
  };
  const run = async (document: TextDocument) => {
    runs.get(document)?.abort();
    const controller = new AbortController();
    runs.set(document, controller);
    const { signal } = controller;
    const found = await findProblemsOf(deps, document, signal).catch((error: unknown) => {
      if (!signal.aborted) log.error('Rehearsing a saved migration', error);
      return [];
    });
    if (!signal.aborted) problems.set(document.uri, found);
  };
  const endAll = () => [...runs.keys()].forEach(forget);
  const mayRehearse = () => config.rehearsesOnSave && workspace.isTrusted;
  const listeners = [
    workspace.onDidSaveTextDocument((document) => {
      const { scheme, path: name } = document.uri;
      if (mayRehearse() && scheme === 'file' && name.endsWith('.sql')) void run(document);
    }),
    workspace.onDidCloseTextDocument(forget),
    config.onDidChange(() => mayRehearse() || endAll()),
    { dispose: endAll },
  ];
  for (const listener of listeners) disposables.add(listener);
  return disposables;
}

async function findProblemsOf(deps: Dependencies, { uri }: TextDocument, signal: AbortSignal) {
  const folder = workspace.getWorkspaceFolder(uri);
  const work = folder && deps.workFolders.of(folder);
  if (work === undefined) return [];
  const saved = { work, file: uri.fsPath, isKnown: deps.rehearsals.files.has(uri.fsPath) };
  const title = l10n.t('Rehearsing {0}', path.posix.basename(uri.path));
  return await window.withProgress({ location: ProgressLocation.Window, title }, async () =>
    deps.findProblems(deps, saved, signal),
  );
}
