/**
 * Registers completion and hover for compute hosts. The code behind them is loaded on first use, and only in windows
 * with an account.
 */
import { languages, type CompletionItemProvider, type DocumentSelector, type HoverProvider } from 'vscode';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { Session } from '../../account/session.ts';
import type { HostProvider } from './hostProvider.ts';

/** Selects files of any kind, but not the input boxes, output channels and comments that are documents too. */
const FILES: DocumentSelector = [
  'file',
  'untitled',
  'vscode-remote',
  'vscode-vfs',
  'vscode-userdata',
  'vscode-notebook-cell',
].map((scheme) => ({ scheme }));

/**
 * Characters before a host: `@ep-…`, `PGHOST=ep-…`, `"PGHOST": "ep-…"`, `//ep-…`. One is `-`, because VS Code treats the 19 of
 * `ep-19` as a separate word and doesn't open a list for a number.
 */
const TRIGGERS = ['@', '=', '"', "'", '`', '/', ':', '-'];

interface Loaded {
  readonly session: Pick<Session, 'connection'>;
  readonly hostProvider: () => HostProvider;
}

/** @param hasAccount whether there may be an account, without reading the secret store */
export function registerProviders(load: () => Promise<Loaded>, hasAccount: () => boolean): Disposable {
  const disposables = new DisposableStore();
  const provider = async () => {
    const app = hasAccount() ? await load() : undefined;
    return app?.session.connection && app.hostProvider();
  };
  const completion: CompletionItemProvider = {
    provideCompletionItems: async (document, position) => (await provider())?.complete(document, position),
    resolveCompletionItem: async (item) => (await provider())?.resolve(item),
  };
  const hover: HoverProvider = {
    provideHover: async (document, position, token) => (await provider())?.hover(document, position, token),
  };
  disposables.add(languages.registerCompletionItemProvider(FILES, completion, ...TRIGGERS));
  disposables.add(languages.registerHoverProvider('*', hover));
  return disposables;
}
