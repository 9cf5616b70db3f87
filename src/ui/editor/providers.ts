/**
 * Completion and hover for compute hosts, as VS Code asks for them. What they answer is another bundle, loaded with the
 * first question of whoever is connected; for anyone else this is all there is.
 */
import { languages, type CompletionItemProvider, type DocumentSelector, type HoverProvider } from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { Inventory } from '../../model/inventory.ts';
import type { KnownLogins } from '../../model/knownLogins.ts';
import type { Session } from '../../model/session.ts';
import type { Config } from '../state/config.ts';
import type { Log } from '../log/log.ts';

export interface EditorParts {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly logins: KnownLogins;
  readonly config: Config;
  readonly log: Log;
}

/** Files wherever they are, but not the inputs, outputs and comments that are documents to VS Code as well. */
const WRITABLE: DocumentSelector = [
  'file',
  'untitled',
  'vscode-remote',
  'vscode-vfs',
  'vscode-userdata',
  'vscode-notebook-cell',
].map((scheme) => ({ scheme }));

/** What stands right before a host: `@ep-…`, `PGHOST=ep-…`, `"PGHOST": "ep-…"`, `//ep-…`. */
const TRIGGERS = ['@', '=', '"', "'", '`', '/', ':'];

/** @param mayAnswer whether there may be an account, as far as that is known without asking */
export function registerProviders(load: () => Promise<EditorParts>, mayAnswer: () => boolean): Disposable {
  const disposables = new DisposableStore();
  const loadAnswers = async (parts: EditorParts) => {
    const { HostAnswers } = await import('./hostAnswers.ts');
    return disposables.add(new HostAnswers(parts));
  };
  let loading: ReturnType<typeof loadAnswers> | undefined;
  const answers = async () => {
    const parts = mayAnswer() ? await load() : undefined;
    if (parts?.session.connection === undefined) return undefined;
    return await (loading ??= loadAnswers(parts));
  };
  const completion: CompletionItemProvider = {
    provideCompletionItems: async (document, position) => (await answers())?.complete(document, position),
    resolveCompletionItem: async (item) => (await answers())?.resolve(item),
  };
  const hover: HoverProvider = {
    provideHover: async (document, position, token) => (await answers())?.hover(document, position, token),
  };
  disposables.add(languages.registerCompletionItemProvider(WRITABLE, completion, ...TRIGGERS));
  disposables.add(languages.registerHoverProvider('*', hover));
  return disposables;
}
