/**
 * Registers the views, commands and providers. Every window does this and most never use them, so the code behind them
 * (`app.ts`) is loaded on first use.
 */
import { EventEmitter, workspace, type ExtensionContext, type FileChangeEvent } from 'vscode';
import type { App } from './app.ts';
import { DisposableStore } from '../base/disposable.ts';
import { keepUnlessRejected } from './window/keepUnlessRejected.ts';
import { hasPendingChange } from './operations/pendingChange.ts';
import { hasKnownHosts } from './gitBranch/hasKnownHosts.ts';
import { registerCommands, type ContributedCommands } from './registerCommands.ts';
import { registerDocuments } from './documents.ts';
import { registerProviders } from './connection/ui/providers.ts';
import { registerAgents } from './agents/ui/register.ts';
import { rotationRecords, unprotectedRecords } from './recoveryRecords.ts';
import { removeAbandonedPassFiles } from './connection/ui/abandonedPassFiles.ts';
import { registerSettingsFiles } from './computes/ui/settingsFileSystem.ts';
import { setViewState } from './window/ui/contextKey.ts';
import { usesAgents } from './agents/ui/usesAgents.ts';
import { lastAccount } from './account/ui/lastAccount.ts';
import { createLazyTreeView } from './window/ui/lazyTreeView.ts';

interface Manifest {
  readonly contributes: ContributedCommands;
}

export function activate(context: ExtensionContext): void {
  const disposables = new DisposableStore();
  context.subscriptions.push(disposables);
  // The records are read at activation, because one that appears later may be of another window that is rotating a key.
  const interruptedRotations = rotationRecords(context.globalStorageUri).all();
  const app = keepUnlessRejected(async (): Promise<App> => {
    const { openApp } = await import('./app.ts');
    const active = {
      computesView,
      apiKeysView,
      filesChanged,
      documents,
      accountChanged,
      interruptedRotations,
    };
    return await openApp(context, active, disposables);
  });

  const computesTree = async () => (await app()).computesView;
  const apiKeysTree = async () => (await app()).apiKeysView;
  const computesView = createLazyTreeView('hostedPostgres.computes', computesTree, disposables);
  const apiKeysView = createLazyTreeView('hostedPostgres.apiKeys', apiKeysTree, disposables, {
    isFlat: true,
  });
  const filesChanged = disposables.add(new EventEmitter<FileChangeEvent[]>());
  disposables.add(registerSettingsFiles(app, filesChanged));
  const documents = disposables.add(registerDocuments(app));
  const accountChanged = disposables.add(new EventEmitter<void>());
  const { contributes }: Manifest = context.extension.packageJSON;
  disposables.add(registerCommands(contributes, app));
  const account = () => lastAccount(context.globalState);
  const hasAccount = () => account() !== 'none';
  disposables.add(registerProviders(app, hasAccount));
  disposables.add(registerAgents(context, app, { exists: hasAccount, onDidChange: accountChanged.event }));

  setViewState(hasAccount() ? 'loading' : 'signedOut');
  disposables.add(context.secrets.onDidChange(() => void app()));
  // The local service runs while a window uses its account. What an earlier window has begun is tracked until it ends.
  const isPending =
    hasPendingChange(context.workspaceState, Date.now()) ||
    interruptedRotations.length > 0 ||
    unprotectedRecords(context.globalStorageUri).all().length > 0;
  const showsBranch = hasKnownHosts(context.globalState) && workspace.workspaceFolders !== undefined;
  if (account() === 'local' || isPending || showsBranch || usesAgents(context.globalStorageUri)) void app();
  // On failure, for example on a read-only disk, the next window tries again.
  removeAbandonedPassFiles(context.globalStorageUri).catch(() => undefined);
}
