/** The API Keys view. */
import {
  EventEmitter,
  l10n,
  MarkdownString,
  ThemeIcon,
  TreeItem,
  window,
  type TreeDataProvider,
  type TreeView,
} from 'vscode';
import { isRefused } from '../../api/errors.ts';
import type { ApiKey } from '../../api/records.ts';
import { isEqual } from '../../base/equal.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import type { ApiKeyList } from '../../model/apiKeyList.ts';
import type { Connection } from '../../model/connection.ts';
import type { ApiKeyNode } from '../../model/nodes.ts';
import type { Session } from '../../model/session.ts';
import { explain } from '../fault.ts';
import { markdown, plain } from '../plain.ts';
import { Interned } from './interned.ts';

export class ApiKeysTree implements TreeDataProvider<ApiKeyNode>, Disposable {
  readonly #session: Session;
  readonly #keys: ApiKeyList;
  readonly #nodes = new Interned<ApiKeyNode>(({ keyId }) => String(keyId));
  readonly #changed = new EventEmitter<ApiKeyNode[] | undefined>();
  readonly #held = new DisposableStore();
  /** The keys as they were drawn last. */
  readonly #drawn = new Map<number, ApiKey | undefined>();

  #connection: Connection | undefined;

  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: TreeView<ApiKeyNode>;

  constructor(session: Session, keys: ApiKeyList) {
    this.#session = session;
    this.#keys = keys;
    this.#held.add(this.#changed);
    this.#held.add(keys.onDidChange(() => this.#update()));
    this.view = this.#held.add(window.createTreeView('hostedPostgres.apiKeys', { treeDataProvider: this }));
  }

  async getChildren(): Promise<ApiKeyNode[]> {
    if (this.#session.connection !== undefined) await this.#keys.look();
    return this.#nodes.setChildren(undefined, this.#all());
  }

  getTreeItem({ keyId }: ApiKeyNode): TreeItem {
    const key = this.#keys.key(keyId);
    this.#drawn.set(keyId, key);
    const item = new TreeItem(plain(key?.name ?? '') || String(keyId));
    item.id = String(keyId);
    item.iconPath = new ThemeIcon('key');
    item.contextValue = 'apiKey';
    if (key !== undefined) {
      item.description = lastUse(key);
      item.tooltip = tooltip(key);
      item.accessibilityInformation = {
        label: l10n.t('API key {0}, {1}', item.label as string, lastUse(key)),
      };
    }
    return item;
  }

  dispose(): void {
    this.#held.dispose();
  }

  #update(): void {
    this.view.message = this.#message() ?? '';
    const now = this.#all();
    const isOther = this.#connection !== this.#session.connection;
    this.#connection = this.#session.connection;
    if (isOther) this.#nodes.clear();
    if (isOther || this.#nodes.childrenDiffer(undefined, now)) {
      this.#drawn.clear();
      return this.#changed.fire(undefined);
    }
    const changed = now.filter(({ keyId }) => !isEqual(this.#keys.key(keyId), this.#drawn.get(keyId)));
    const known = changed.flatMap((node) => this.#nodes.find(node) ?? []);
    if (known.length > 0) this.#changed.fire(known);
  }

  #all(): ApiKeyNode[] {
    return this.#keys.keys.map(({ id }) => ({ kind: 'apiKey', keyId: id }));
  }

  #message(): string | undefined {
    const { failure } = this.#keys;
    if (failure === undefined) return undefined;
    if (isRefused(failure, 403)) {
      return l10n.t('This key belongs to an organization and may not see the keys of an account.');
    }
    return l10n.t('Not up to date: {0}', explain(failure).words);
  }
}

const date = (timestamp: string): string => {
  const time = Date.parse(timestamp);
  return Number.isNaN(time) ? plain(timestamp) : new Date(time).toLocaleString();
};

const lastUse = (key: ApiKey): string =>
  key.last_used_at ? l10n.t('last used {0}', date(key.last_used_at)) : l10n.t('never used');

function tooltip(key: ApiKey): MarkdownString {
  const lines = [`**${markdown(key.name)}**`, l10n.t('Id {0}', key.id)];
  if (key.created_at) lines.push(markdown(l10n.t('Created {0}', date(key.created_at))));
  lines.push(markdown(lastUse(key)));
  if (key.last_used_from_addr) lines.push(markdown(l10n.t('From {0}', key.last_used_from_addr)));
  return new MarkdownString(lines.join('\n\n'));
}
