/**
 * Registers what VS Code may ask of the extension, and nothing else: every window does this, and most never ask. What
 * answers is in `app.ts`, which is loaded when it is first asked.
 */
import type { ExtensionContext } from 'vscode';
import type { App } from './app.ts';
import { DisposableStore } from './base/disposable.ts';
import { hasPending } from './model/pendingChange.ts';
import { hasRotations } from './model/pendingRotations.ts';
import { registerCommands } from './ui/commands/register.ts';
import { tellState } from './ui/contextKeys.ts';
import { registerProviders } from './ui/editor/providers.ts';
import { registerTools } from './ui/languageModel/register.ts';
import { lastAccount } from './ui/lastAccount.ts';
import { memoryOf, rotationMemory } from './ui/memory.ts';
import { SettingsDocuments } from './ui/settings/settingsDocuments.ts';
import { TreeFace } from './ui/tree/treeFace.ts';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

export function activate(context: ExtensionContext): void {
  const held = new DisposableStore();
  context.subscriptions.push(held);
  const open = async (): Promise<App> => {
    const { App } = await import('./app.ts');
    const opened = held.add(new App(context, { computesView, apiKeysView, settings }));
    await opened.session.start();
    return opened;
  };
  let opening: Promise<App> | undefined;
  const app = () => (opening ??= open());

  const computesTree = async () => (await app()).computesTree;
  const apiKeysTree = async () => (await app()).apiKeysTree;
  const { view: computesView } = held.add(new TreeFace('hostedPostgres.computes', computesTree));
  const { view: apiKeysView } = held.add(
    new TreeFace('hostedPostgres.apiKeys', apiKeysTree, { isFlat: true }),
  );
  const settings = held.add(new SettingsDocuments(app));
  const { contributes }: Manifest = context.extension.packageJSON;
  held.add(registerCommands(contributes.commands, async () => (await app()).commands));
  const account = () => lastAccount(context.globalState);
  held.add(registerProviders(app, () => account() !== 'none'));
  held.add(registerTools(app));

  tellState(account() === 'none' ? 'signedOut' : 'loading');
  held.add(context.secrets.onDidChange(() => void app()));
  // The local service runs as long as a window uses its account. Pending changes and key rotations are followed to their end.
  const isPending =
    hasPending(memoryOf(context.workspaceState)) || hasRotations(rotationMemory(context.globalStorageUri));
  if (account() === 'local' || isPending) void app();
}
