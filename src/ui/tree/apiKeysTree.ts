/** The API Keys view. */
import { EventEmitter, l10n, type TreeItem, type TreeView } from 'vscode';
import type { ApiKey } from '../../api/records/records.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { isEqual } from '../../base/equal.ts';
import type { ApiKeyList } from '../../model/account/apiKeyList.ts';
import type { AccountConnection } from '../../model/account/accountConnection.ts';
import type { Session } from '../../model/account/session.ts';
import { explainError } from '../text/errorMessage.ts';
import { areKeysHidden, keysItem, keysNodeId, keysNodes, type KeysNode } from './apiKeyItems.ts';
import type { Tree } from './lazyTreeView.ts';
import { setViewMessage } from '../window.ts';
import { NodeCache } from './nodeCache.ts';
import { redrawRelativeTimes } from './relativeTime.ts';

export class ApiKeysTree implements Tree<KeysNode>, Disposable {
  readonly #session: Session;
  readonly #keys: ApiKeyList;
  readonly #nodes = new NodeCache(keysNodeId);
  readonly #changed = new EventEmitter<KeysNode[] | undefined>();
  readonly #disposables = new DisposableStore();
  /** The keys as last drawn. */
  readonly #drawn = new Map<number, ApiKey | undefined>();

  #connection: AccountConnection | undefined;

  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: TreeView<KeysNode>;

  constructor(session: Session, keys: ApiKeyList, view: TreeView<KeysNode>) {
    this.#session = session;
    this.#keys = keys;
    this.#disposables.add(this.#changed);
    this.#disposables.add(keys.onDidChange(() => this.#update()));
    this.view = view;
    this.#disposables.add(redrawRelativeTimes(view, () => this.#redraw()));
  }

  async getChildren(): Promise<KeysNode[]> {
    if (this.#session.connection !== undefined) await this.#keys.ensureLoaded();
    return this.#nodes.setChildren(undefined, keysNodes(this.#keys));
  }

  getTreeItem(node: KeysNode): TreeItem {
    if (node.kind === 'apiKey') this.#drawn.set(node.keyId, this.#keys.key(node.keyId));
    return keysItem(this.#keys, node);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #update(): void {
    setViewMessage(this.view, this.#message() ?? '');
    const nodes = keysNodes(this.#keys);
    const { connection } = this.#session;
    const isKeyChanged = connection !== this.#connection;
    const isAccountChanged = isKeyChanged && connection?.isSameAccount(this.#connection) !== true;
    this.#connection = connection;
    // The connection decides which key is in use.
    if (isKeyChanged) this.#drawn.clear();
    if (isAccountChanged) this.#nodes.clear();
    if (isAccountChanged || this.#nodes.childrenDiffer(undefined, nodes)) {
      this.#drawn.clear();
      return this.#changed.fire(undefined);
    }
    this.#redraw(nodes.filter((node) => this.#isChanged(node)));
  }

  #redraw(nodes = keysNodes(this.#keys)): void {
    const cached = nodes.flatMap((node) => this.#nodes.find(node) ?? []);
    if (cached.length > 0) this.#changed.fire(cached);
  }

  #isChanged(node: KeysNode): boolean {
    if (node.kind !== 'apiKey') return node.kind === 'unreadableKey';
    return !isEqual(this.#keys.key(node.keyId), this.#drawn.get(node.keyId));
  }

  #message(): string | undefined {
    const { failure } = this.#keys;
    if (failure === undefined || areKeysHidden(this.#keys)) return undefined;
    const { message } = explainError(failure);
    const isEmpty = keysNodes(this.#keys).length === 0;
    return isEmpty ? l10n.t("Couldn't load: {0}", message) : l10n.t('Not up to date: {0}', message);
  }
}
