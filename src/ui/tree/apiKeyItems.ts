/** The nodes of the API Keys view and their tree items. Pure: they depend only on the list and the node. */
import { l10n, ThemeColor, ThemeIcon, TreeItem } from 'vscode';
import { isRejected } from '../../api/errors.ts';
import type { ApiKey } from '../../api/records/records.ts';
import type { ApiKeyList } from '../../model/account/apiKeyList.ts';
import type { ApiKeyNode } from '../../model/inventory/nodes.ts';
import { formatDate } from '../text/date.ts';
import { ago } from '../text/durationText.ts';
import { markdownTable, type Row } from '../text/markdown.ts';
import { sanitize } from '../text/sanitize.ts';
import { unreadableRecordItem } from './treeItems.ts';

/** Shown instead of keys if the key in use may not list them. */
export interface HiddenKeysNode {
  readonly kind: 'hiddenKeys';
}

/** A record that couldn't be parsed. Shown rather than dropped. */
export interface UnreadableKeyNode {
  readonly kind: 'unreadableKey';
  readonly index: number;
}

export type KeysNode = ApiKeyNode | HiddenKeysNode | UnreadableKeyNode;

export function keysNodeId(node: KeysNode): string {
  switch (node.kind) {
    case 'apiKey':
      return String(node.keyId);
    case 'unreadableKey':
      return `?${node.index}`;
    case 'hiddenKeys':
      return node.kind;
    default:
      return node satisfies never;
  }
}

/** The public service answers 403 to an organization's key on account routes, although the key is valid. */
export const areKeysHidden = (list: ApiKeyList): boolean => isRejected(list.failure, 403);

export function keysNodes(list: ApiKeyList): KeysNode[] {
  if (areKeysHidden(list)) return [{ kind: 'hiddenKeys' }];
  return [
    ...list.keys.map(({ id }): KeysNode => ({ kind: 'apiKey', keyId: id })),
    ...list.unreadable.map((_, index): KeysNode => ({ kind: 'unreadableKey', index })),
  ];
}

export function keysItem(list: ApiKeyList, node: KeysNode): TreeItem {
  const item = apiKeyItem(list, node);
  item.id = keysNodeId(node);
  return item;
}

function apiKeyItem(list: ApiKeyList, node: KeysNode): TreeItem {
  switch (node.kind) {
    case 'apiKey':
      return keyItem(list.key(node.keyId), node.keyId, list.isInUse(node.keyId));
    case 'unreadableKey': {
      const { id, field = '' } = list.unreadable[node.index] ?? {};
      return unreadableRecordItem(id ?? l10n.t('API key'), field);
    }
    case 'hiddenKeys':
      return hiddenItem(list.keyKind === 'personal');
    default:
      return node satisfies never;
  }
}

function keyItem(key: ApiKey | undefined, id: number, isInUse: boolean): TreeItem {
  const label = sanitize(key?.name ?? '') || String(id);
  const item = new TreeItem(label);
  item.iconPath = new ThemeIcon('key', isInUse ? new ThemeColor('charts.green') : undefined);
  item.contextValue = isInUse ? 'apiKey inUse' : 'apiKey';
  // Deleted since the last refresh: the view is about to drop it.
  if (key === undefined) return item;
  const parts = [lastUse(key), created(key), `#${id}`].filter((part) => part !== '');
  if (isInUse) parts.unshift(l10n.t('this window'));
  item.description = parts.join(' · ');
  item.tooltip = markdownTable(key.name, rows(key, isInUse));
  item.accessibilityInformation = { label: [l10n.t('API key {0}', label), ...parts].join(', ') };
  return item;
}

function lastUse({ last_used_at, last_used_from_addr }: ApiKey): string {
  if (!last_used_at) return l10n.t('never used');
  const when = sanitize(ago(last_used_at));
  return last_used_from_addr
    ? l10n.t('used {0} from {1}', when, sanitize(last_used_from_addr))
    : l10n.t('used {0}', when);
}

const created = ({ created_at }: ApiKey): string =>
  created_at ? l10n.t('created {0}', sanitize(ago(created_at))) : '';

const rows = (key: ApiKey, isInUse: boolean): Row[] => [
  [l10n.t('Id'), key.id],
  [l10n.t('Created'), key.created_at && formatDate(key.created_at)],
  [l10n.t('Last used'), key.last_used_at ? formatDate(key.last_used_at) : l10n.t('never')],
  [l10n.t('From'), key.last_used_from_addr],
  [l10n.t('In use'), isInUse ? l10n.t('by this window') : undefined],
];

/** @param isPersonal otherwise the key is an organization's, as far as is known */
function hiddenItem(isPersonal: boolean): TreeItem {
  const label = l10n.t("This key can't list API keys");
  const description = isPersonal
    ? l10n.t("the service doesn't permit it")
    : l10n.t('it belongs to an organization');
  const item = new TreeItem(label);
  item.description = description;
  item.accessibilityInformation = { label: [label, description].join(', ') };
  if (!isPersonal)
    item.tooltip = l10n.t(
      "An organization's API key gives access to the projects and computes of the organization. To list, create or revoke the API keys of an account, use a personal key.",
    );
  item.iconPath = new ThemeIcon('info');
  item.contextValue = 'hiddenKeys';
  return item;
}
