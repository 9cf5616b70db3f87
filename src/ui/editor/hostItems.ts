/** Completion items: one for each host of a compute, and the one that leads to what is not in the list. */
import { CompletionItem, CompletionItemKind, l10n, MarkdownString, Range, SnippetString } from 'vscode';
import { labelOf, sizeText } from '../../model/computeStatus.ts';
import type { KnownHost } from '../../model/computeIndex.ts';
import { tlsQuery } from '../../model/connectionStrings.ts';
import type { LoginNames } from '../../model/knownLogins.ts';
import type { HostPlace } from '../../model/hostPlaces.ts';
import { computeTable } from '../text/computeTable.ts';
import { statusText } from '../text/computeText.ts';
import { sanitize } from '../text/sanitize.ts';

export interface ItemContext {
  readonly place: HostPlace;
  readonly line: number;
  /** @param projectId undefined where the compute is not chosen yet */
  readonly login: (projectId: string | undefined) => LoginNames;
  readonly projectName: (projectId: string) => string;
}

class HostItem extends CompletionItem {
  readonly known: KnownHost;

  constructor(known: KnownHost, label: CompletionItem['label']) {
    super(label, CompletionItemKind.Value);
    this.known = known;
  }
}

/** In the order given: what was found first is shown first. */
export const hostItems = (hosts: readonly KnownHost[], context: ItemContext): CompletionItem[] =>
  hosts.map((known, order) => {
    const { compute, host } = known;
    // A host of the local service is a port, which says nothing of its own.
    const whose = host.includes(compute.id) ? '' : sanitize(labelOf(compute));
    const words = [whose, statusText(compute), sizeText(compute), known.isPooled ? l10n.t('pooled') : ''];
    const description = words.filter((word) => word !== '').join(' · ');
    const item = new HostItem(known, { label: host, description });
    const projectName = context.projectName(compute.project_id);
    item.detail = sanitize([labelOf(compute), projectName, compute.branch_id].join(' · '));
    item.insertText = context.place.kind === 'uri' ? uriSnippet(known, context) : host;
    // VS Code drops what the typed text does not match, and a compute can be found by more than its host.
    item.filterText = [host, compute.id, compute.name ?? '', projectName, compute.branch_id].join(' ');
    return placed(item, context, String(order).padStart(4, '0'));
  });

/** Details are made for the item in focus only. */
export function documented(item: CompletionItem): CompletionItem {
  if (item instanceof HostItem) item.documentation = new MarkdownString(computeTable(item.known.compute));
  return item;
}

/** Stands for what is not there yet; taking it changes nothing. */
export function loadingItem(context: ItemContext): CompletionItem {
  const item = new CompletionItem(l10n.t('Loading computes…'), CompletionItemKind.Text);
  item.insertText = context.place.typed;
  return last(item, context);
}

/** Leads to the projects whose computes are not loaded, lest the list seem to be all there is. */
export function otherComputesItem(context: ItemContext): CompletionItem {
  const title = l10n.t('Computes of other projects…');
  const item = new CompletionItem(title, CompletionItemKind.Text);
  // The host goes where the cursor is then.
  item.insertText = context.place.kind === 'uri' ? uriSnippet(undefined, context) : '';
  item.command = { title, command: 'hostedPostgres.compute.insertHost' };
  return last(item, context);
}

function last(item: CompletionItem, context: ItemContext): CompletionItem {
  item.filterText = `${context.place.typed} `;
  return placed(item, context, '~');
}

function placed(item: CompletionItem, { place, line }: ItemContext, sortText: string): CompletionItem {
  const cursor = place.start + place.typed.length;
  item.range = {
    inserting: new Range(line, place.start, line, cursor),
    replacing: new Range(line, place.start, line, place.end),
  };
  item.sortText = sortText;
  return item;
}

/** Role, password and database are left to be filled in; without a host the cursor stays in its place. */
function uriSnippet(known: KnownHost | undefined, context: ItemContext): SnippetString {
  const host = known?.host;
  const login = context.login(known?.compute.project_id);
  const uri = new SnippetString('postgresql://');
  const part = (text: string) => (host === undefined ? uri.appendText(text) : uri.appendPlaceholder(text));
  part(encodeURIComponent(login.role) || 'role');
  uri.appendText(':');
  part('password');
  uri.appendText('@');
  if (host === undefined) uri.appendTabstop(0);
  else uri.appendText(host);
  uri.appendText('/');
  part(encodeURIComponent(login.database) || 'database');
  return uri.appendText(tlsQuery(host ?? ''));
}
