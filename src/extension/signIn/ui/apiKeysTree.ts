/** The API Keys view: its nodes and their tree items. */
import {
  EventEmitter,
  l10n,
  TreeItem,
  ThemeColor,
  ThemeIcon,
  type MarkdownString,
  type TreeView,
} from 'vscode';
import type { ApiKey } from '../../../api/records/records.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../../base/disposable.ts';
import type { ApiKeyList } from '../apiKeys/apiKeyList.ts';
import { explainError } from '../../window/ui/errorMessage.ts';
import type { LazyTree } from '../../window/ui/lazyTreeView.ts';
import { setViewMessage } from '../../window/ui/window.ts';
import { isRejected } from '../../../api/transport/errors.ts';
import type { ApiKeyNode } from '../../inventory/nodes.ts';
import { formatDate, timeAgo } from '../../window/ui/timeText.ts';
import { markdownTable } from '../../window/ui/markdown.ts';
import { nameOrId } from '../../../base/sanitize.ts';
import { unreadableRecordItem } from '../../inventory/ui/treeItems.ts';
import { systemClock, type Clock } from '../../../base/clock.ts';

interface DrawnRow {
  readonly node: KeysNode;
  /** What it looks like. Drawing it again would close an open tooltip. */
  readonly text: string;
}

/**
 * The tree of the API keys. While the whole tree is drawn again, VS Code finds no row that is clicked. So that is done only if there are
 * other rows, and otherwise only those are drawn that look different.
 */
export class ApiKeysTree implements LazyTree<KeysNode>, Disposable {
  readonly #keys: ApiKeyList;
  readonly #changed = new EventEmitter<KeysNode[] | undefined>();
  readonly #disposables = new DisposableStore();
  /** The rows as last drawn. Undefined while VS Code waits for them. */
  #drawn: readonly DrawnRow[] | undefined;

  readonly onDidChangeTreeData = this.#changed.event;
  readonly view: TreeView<KeysNode>;

  constructor(keys: ApiKeyList, view: TreeView<KeysNode>) {
    this.#keys = keys;
    this.view = view;
    const redraw = () => this.#redraw();
    const update = () => {
      setViewMessage(view, failureText(keys));
      redraw();
    };
    for (const each of [this.#changed, keys.onDidChange(update), redrawRelativeTimes(view, redraw)])
      this.#disposables.add(each);
  }

  async getChildren(): Promise<KeysNode[]> {
    this.#drawn = undefined;
    await this.#keys.ensureLoaded();
    const nodes = listNodes(this.#keys);
    this.#drawn = this.#rowsOf(nodes);
    return nodes;
  }

  getTreeItem(node: KeysNode): TreeItem {
    return treeItem(this.#keys, node);
  }

  /** Selects a row. Does nothing if the list doesn't have the key. */
  async reveal(keyId: number): Promise<void> {
    if (this.#keys.key(keyId) === undefined) return;
    await this.view.reveal({ kind: 'apiKey', keyId }, { select: true, focus: true });
  }

  resolveTreeItem(item: TreeItem, node: KeysNode): TreeItem {
    item.tooltip = nodeTooltip(this.#keys, node);
    return item;
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #redraw(): void {
    const drawn = this.#drawn;
    if (drawn === undefined) return;
    const [before, now] = [drawn.map(({ node }) => node), listNodes(this.#keys)];
    // The keys of another account are loaded once VS Code asks for its rows.
    if (!this.#keys.wasRequested || before.map(nodeId).join() !== now.map(nodeId).join())
      return this.#changed.fire(undefined);
    const rows = this.#rowsOf(before);
    const changed = before.filter((_, index) => rows[index]?.text !== drawn[index]?.text);
    this.#drawn = rows;
    if (changed.length > 0) this.#changed.fire(changed);
  }

  #rowsOf(nodes: readonly KeysNode[]): readonly DrawnRow[] {
    return nodes.map((node) => ({ node, text: JSON.stringify(treeItem(this.#keys, node)) }));
  }
}

function failureText(list: ApiKeyList): string {
  if (list.failure === undefined || areKeysHidden(list)) return '';
  const { message } = explainError(list.failure);
  const isEmpty = listNodes(list).length === 0;
  return isEmpty ? l10n.t("Couldn't load: {0}", message) : l10n.t('Not up to date: {0}', message);
}

/** A row. `hiddenKeys` says that the key in use has no access to the list. `unreadableKey` is a record that couldn't be parsed. */
export type KeysNode =
  | ApiKeyNode
  | { readonly kind: 'hiddenKeys' }
  | { readonly kind: 'unreadableKey'; readonly index: number };

function nodeId(node: KeysNode): string {
  if (node.kind === 'apiKey') return String(node.keyId);
  return node.kind === 'unreadableKey' ? `?${node.index}` : node.kind;
}

/**
 * Whether the service hides the keys. On account routes, the public service responds with 403 to an organization's key, although it
 * is valid.
 */
const areKeysHidden = (list: ApiKeyList): boolean => isRejected(list.failure, 403);

function listNodes(list: ApiKeyList): KeysNode[] {
  if (areKeysHidden(list)) return [{ kind: 'hiddenKeys' }];
  return [
    ...list.keys.map(({ id }): KeysNode => ({ kind: 'apiKey', keyId: id })),
    ...list.unreadable.map((_, index): KeysNode => ({ kind: 'unreadableKey', index })),
  ];
}

const treeItem = (list: ApiKeyList, node: KeysNode): TreeItem =>
  Object.assign(createTreeItem(list, node), { id: nodeId(node) });

function createTreeItem(list: ApiKeyList, node: KeysNode): TreeItem {
  if (node.kind === 'apiKey') return keyItem(list.key(node.keyId), node.keyId, list.isInUse(node.keyId));
  if (node.kind === 'hiddenKeys') return unlistableKeysItem();
  const { id, field = '' } = list.unreadable[node.index] ?? {};
  return unreadableRecordItem(id ?? l10n.t('API key'), field);
}

function keyItem(key: ApiKey | undefined, id: number, isInUse: boolean): TreeItem {
  const label = nameOrId(key?.name, String(id));
  const item = new TreeItem(label);
  item.iconPath = new ThemeIcon('key', isInUse ? new ThemeColor('charts.green') : undefined);
  item.contextValue = isInUse ? 'apiKey inUse' : 'apiKey';
  // The key was deleted since the last refresh. Its row is about to be removed.
  if (key === undefined) return item;
  const parts = [
    lastUseText(key),
    ...(key.created_at ? [l10n.t('created {0}', timeAgo(key.created_at))] : []),
    `#${id}`,
  ];
  if (isInUse) parts.unshift(l10n.t('this window'));
  item.description = parts.join(' · ');
  item.accessibilityInformation = { label: [l10n.t('API key {0}', label), ...parts].join(', ') };
  return item;
}

function lastUseText({ last_used_at, last_used_from_addr: address }: ApiKey): string {
  if (!last_used_at) return l10n.t('never used');
  const when = timeAgo(last_used_at);
  return address ? l10n.t('used {0} from {1}', when, address) : l10n.t('used {0}', when);
}

/**
 * Returns the tooltip of a row, which VS Code asks for when the pointer is on it. It isn't part of the row as drawn, so a newer last
 * use draws the tree again only if the text of a row changes.
 */
function nodeTooltip(list: ApiKeyList, node: KeysNode): TreeItem['tooltip'] {
  if (node.kind === 'hiddenKeys')
    return l10n.t(
      "An organization's API key gives access to the projects and computes of the organization. To list, create or revoke the API keys of an account, use a personal key.",
    );
  return node.kind === 'apiKey' ? keyTable(list, node) : undefined;
}

export function keyTable(list: ApiKeyList, { keyId }: ApiKeyNode): MarkdownString | undefined {
  const key = list.key(keyId);
  if (key === undefined) return undefined;
  return markdownTable(key.name, [
    [l10n.t('Id'), key.id],
    [l10n.t('Created'), key.created_at && formatDate(key.created_at)],
    [l10n.t('Last used'), key.last_used_at ? formatDate(key.last_used_at) : l10n.t('never')],
    [l10n.t('From'), key.last_used_from_addr],
    [l10n.t('In use'), list.isInUse(key.id) ? l10n.t('by this window') : undefined],
  ]);
}

function unlistableKeysItem(): TreeItem {
  const label = l10n.t("This key can't list API keys");
  const reason = l10n.t('it may belong to an organization');
  const item = new TreeItem(label);
  item.description = reason;
  item.accessibilityInformation = { label: `${label}, ${reason}` };
  item.iconPath = new ThemeIcon('info');
  item.contextValue = 'hiddenKeys';
  return item;
}

const MINUTE = 60_000;

/** Redraws rows with relative times (`3 minutes ago`) every minute while the view is visible. */
export function redrawRelativeTimes(
  view: Pick<TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
  redraw: () => void,
  clock: Clock = systemClock,
): Disposable {
  let next: Disposable | undefined;
  const schedule = () => {
    next?.dispose();
    next = view.visible ? clock.after(MINUTE, tick) : undefined;
  };
  const tick = () => {
    redraw();
    schedule();
  };
  const listener = view.onDidChangeVisibility(() => (view.visible ? tick() : schedule()));
  schedule();
  return toDisposable(() => {
    listener.dispose();
    next?.dispose();
  });
}
