/** Completion items: one for each host of a compute, and one that loads more computes. */
import {
  CompletionItem,
  CompletionItemKind,
  l10n,
  Range,
  SnippetString,
  TextEdit,
  type MarkdownString,
} from 'vscode';
import type { Compute } from '../../../api/records/records.ts';
import type { ComputeHost } from '../computeIndex.ts';
import { isPrimary } from '../../inventory/computeStatus.ts';
import { percentEncode, encodeDatabasePath } from '../../../api/addresses/databaseUrl.ts';
import { PASSWORD_PLACEHOLDER, tlsQuery } from '../connectionStrings.ts';
import type { CompletionContext } from '../completionContext.ts';
import { withPort, type PortPlace } from '../portPlace.ts';
import type { RoleAndDatabase } from '../connectionDefaults.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import { computeTooltip, joinParts, statusText } from '../../inventory/ui/computeText.ts';
import { sizeText } from '../../inventory/ui/sizeText.ts';
import { displayName, sanitize } from '../../../base/sanitize.ts';
import { idAndName } from '../../window/ui/idAndName.ts';
import type { OwnCommand } from '../../window/ui/executeCommand.ts';

interface ItemContext {
  readonly place: CompletionContext;
  readonly line: number;
  readonly portPlace: PortPlace;
  /** Returns the login. @param projectId undefined if the compute isn't loaded yet */
  readonly login: (projectId: string | undefined) => RoleAndDatabase;
  /** The branch of a compute as text, such as `main (shop)`. */
  readonly branchText: (compute: Compute) => string;
  /** Whether a password may be inserted: the document is a file of variables, in a trusted workspace. */
  readonly takesPassword: boolean;
  /** Returns undefined if the branch's name isn't known. */
  readonly branchName: (compute: Compute) => string | undefined;
}

export class HostItem extends CompletionItem {
  readonly details: () => MarkdownString;

  constructor(label: CompletionItem['label'], details: () => MarkdownString) {
    super(label, CompletionItemKind.Value);
    this.details = details;
  }
}

/** The items are in the order of the hosts. */
export const hostItems = (hosts: readonly ComputeHost[], context: ItemContext): CompletionItem[] =>
  hosts.map((computeHost, order) => {
    const { compute, host, isPooled } = computeHost;
    const branchName = context.branchName(compute);
    const computeName = isPrimary(compute) ? '' : displayName(compute);
    const names = joinParts(context.branchText(compute), computeName);
    const { label, description } = idAndName(host, names);
    const pooled = isPooled ? l10n.t('pooled') : '';
    const status = joinParts(pooled, statusText(compute), description);
    const item = new HostItem({ label, description: status }, () => computeTooltip(compute, branchName));
    item.detail = sanitize(joinParts(displayName(compute), compute.branch_id, sizeText(compute)));
    if (context.place.kind === 'uri') insertUri(item, computeHost, context);
    else insertHost(item, host, context.portPlace);
    // VS Code filters by this text; a compute can be found by more than its host.
    item.filterText = [host, compute.id, compute.name ?? '', compute.branch_id, names].join(' ');
    return placeItem(item, context, String(order).padStart(4, '0'));
  });

/** The command inserts the password, which isn't requested for each row of the list. */
function insertUri(item: CompletionItem, computeHost: ComputeHost, context: ItemContext): void {
  const snippet = uriSnippet(computeHost, context);
  item.insertText = snippet;
  if (!context.takesPassword) return;
  const { compute, isPooled } = computeHost;
  const inserted = snippet.value.replaceAll(/\$\{\d+:([^}]*)\}/g, '$1');
  const title = l10n.t('Insert Password');
  item.command = {
    title,
    command: 'hostedPostgres.compute.insertPassword',
    arguments: [{ ...computeNodeOf(compute), isPooled, inserted }],
  } satisfies OwnCommand;
}

function insertHost(item: CompletionItem, host: string, place: PortPlace): void {
  const { text, port } = withPort(host, place);
  item.insertText = text;
  // Further lines already have the indentation of the first line.
  item.keepWhitespace = true;
  if (place.kind === 'instead' && port !== undefined) {
    const { line, start, end } = place;
    item.additionalTextEdits = [TextEdit.replace(new Range(line, start, line, end), port)];
  }
}

/**
 * Returns the item that is shown while some computes aren't loaded. It lets the user pick a project and one of its computes, and
 * inserts the host.
 */
export function loadComputesItem(context: ItemContext): CompletionItem {
  const title = l10n.t('Load computes…');
  const item = new CompletionItem(title, CompletionItemKind.Text);
  // The command inserts the host at the cursor.
  item.insertText = context.place.kind === 'uri' ? uriSnippet(undefined, context) : '';
  item.command = { title, command: 'hostedPostgres.compute.insertHost' } satisfies OwnCommand;
  // VS Code hides an item whose filter text doesn't match the typed text.
  item.filterText = `${context.place.typed} `;
  return placeItem(item, context, '~');
}

/** Sets what the item replaces, and its place in the list. @returns the item */
function placeItem(item: CompletionItem, { place, line }: ItemContext, sortText: string): CompletionItem {
  const cursor = place.start + place.typed.length;
  item.range = {
    inserting: new Range(line, place.start, line, cursor),
    replacing: new Range(line, place.start, line, place.end),
  };
  item.sortText = sortText;
  return item;
}

/** Returns a URI with placeholders for role, password and database. Without a host, the cursor is placed where the host belongs. */
function uriSnippet(computeHost: ComputeHost | undefined, context: ItemContext): SnippetString {
  const host = computeHost?.host;
  const login = context.login(computeHost?.compute.project_id);
  const uri = new SnippetString('postgresql://');
  const part = (text: string) => (host === undefined ? uri.appendText(text) : uri.appendPlaceholder(text));
  part(percentEncode(login.role) || 'role');
  uri.appendText(':');
  part(PASSWORD_PLACEHOLDER);
  uri.appendText('@');
  if (host === undefined) uri.appendTabstop(0);
  else uri.appendText(host);
  uri.appendText('/');
  part(encodeDatabasePath(login.database) || 'database');
  return uri.appendText(tlsQuery(host ?? ''));
}
