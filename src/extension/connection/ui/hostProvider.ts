/** Completion and hover for hosts, from the computes that are loaded. */
import {
  Hover,
  l10n,
  Range,
  workspace,
  type CancellationToken,
  type CompletionItem,
  type CompletionList,
  type Position,
  type TextDocument,
} from 'vscode';
import { isLoopback } from '../../../api/addresses/host.ts';
import { DisposableStore, type Disposable } from '../../../base/disposable.ts';
import type { Compute } from '../../../api/records/records.ts';
import { nameUnlessId } from '../../inventory/names.ts';
import { ComputeIndex, type HostMatch } from '../computeIndex.ts';
import { Prefetch } from '../../inventory/refresh/prefetch.ts';
import { hostAtPosition, looksLikeCompute, type HostAtPosition } from '../hostAtPosition.ts';
import { completionContext, parentLine } from '../completionContext.ts';
import { portPlace } from '../portPlace.ts';
import type { Account } from '../../account/accounts.ts';
import type { Inventory } from '../../inventory/inventory.ts';
import { computeNodeOf } from '../../inventory/nodes.ts';
import type { ConnectionDefaults } from '../connectionDefaults.ts';
import type { Session } from '../../account/session.ts';
import type { Log } from '../../window/ui/log.ts';
import type { Config } from '../../window/ui/config.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { computeTooltip } from '../../inventory/ui/computeText.ts';
import { markdown, withCommandLinks } from '../../window/ui/markdown.ts';
import type { CommandId } from '../../commandTable/commandTable.ts';
import { HostItem, hostItems, loadComputesItem } from './hostCompletion.ts';

export interface HostProviderDependencies {
  readonly session: Session;
  readonly inventory: Inventory;
  readonly connectionDefaults: ConnectionDefaults;
  readonly config: Config;
  readonly log: Log;
}

/** The most hosts of a completion list. Typing more finds others. */
const MAX_COMPLETIONS = 100;

/** Completes hosts in editors, and explains them. */
export class HostProvider implements Disposable {
  readonly #deps: HostProviderDependencies;
  readonly #disposables = new DisposableStore();
  readonly #index: ComputeIndex;
  readonly #prefetch: Prefetch;

  constructor(deps: HostProviderDependencies) {
    this.#deps = deps;
    this.#index = this.#disposables.add(new ComputeIndex(deps.inventory));
    this.#prefetch = new Prefetch(deps.inventory, (error) => deps.log.error('Loading computes', error));
  }

  /**
   * Completes a host without a request.
   * @returns undefined if no host belongs here
   */
  complete(document: TextDocument, position: Position): CompletionList | undefined {
    const parent = parentLine(document, position.line);
    const place = completionContext(document.lineAt(position.line).text, position.character, parent);
    if (place === undefined) return undefined;
    const { hosts, hasMore } = this.#index.search(place.typed, MAX_COMPLETIONS);
    const { config, inventory, connectionDefaults } = this.#deps;
    const settings = config.configuredLogin(document.uri);
    const context = {
      place,
      line: position.line,
      portPlace: portPlace(place, position.line, document),
      login: (id: string | undefined) => connectionDefaults.propose(id, settings),
      branchText: ({ project_id: projectId, branch_id: branchId }: Compute) =>
        resourceText(inventory, { projectId, branchId }),
      takesPassword: isEnvFile(document) && workspace.isTrusted,
      branchName: (compute: Compute) => this.#branchName(compute),
    };
    const items: CompletionItem[] = hostItems(hosts, context);
    const { isPartial } = this.#prefetch;
    if (isPartial) items.push(loadComputesItem(context));
    return { items, isIncomplete: hasMore || isPartial };
  }

  /** Adds the details of an item. VS Code calls this for the focused item only. */
  resolve(item: CompletionItem): CompletionItem {
    if (item instanceof HostItem) item.documentation = item.details();
    return item;
  }

  /** Describes the compute at a position. If the text names a compute that isn't loaded, those of the first projects are loaded. */
  async hover(
    document: TextDocument,
    position: Position,
    token: CancellationToken,
  ): Promise<Hover | undefined> {
    const mention = hostAtPosition(document.lineAt(position.line).text, position.character);
    if (mention === undefined) return undefined;
    let found = this.#index.find(mention);
    if (found === undefined && mayBeCompute(mention, this.#deps.session.connection?.account)) {
      await Promise.race([this.#prefetch.start(), untilCanceled(token)]);
      found = token.isCancellationRequested ? undefined : this.#index.find(mention);
    }
    if (found === undefined) return undefined;
    const names = this.#deps.inventory.branches.ensureLoaded(found.compute.project_id);
    await Promise.race([names, untilCanceled(token)]);
    return hostHover(found, mention, position.line, this.#branchName(found.compute));
  }

  #branchName({ project_id: projectId, branch_id: branchId }: Compute): string | undefined {
    return nameUnlessId(this.#deps.inventory.branches.get(projectId, branchId));
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}

/**
 * Whether the document is an env file on the disk. VS Code knows such files by their names, and the user's settings. A new file
 * has no place yet, which git could ignore.
 */
const isEnvFile = ({ languageId, uri }: TextDocument): boolean =>
  languageId === 'dotenv' && uri.scheme === 'file';

const untilCanceled = (token: CancellationToken): Promise<void> =>
  new Promise((resolve) => token.onCancellationRequested(() => resolve()));

function hostHover(
  { compute, isPooled, withPort }: HostMatch,
  mention: HostAtPosition,
  line: number,
  branchName: string | undefined,
): Hover {
  const note = isPooled ? l10n.t('This is its host for pooled connections.') : '';
  const content = withCommandLinks(
    markdown`${computeTooltip(compute, branchName)}\n\n${note}`,
    linksFor(compute),
    computeNodeOf(compute),
  );
  const end = withPort ? mention.portEnd : mention.end;
  return new Hover(content, new Range(line, mention.start, line, end));
}

/** Returns the commands that a hover links to. There are only a few, because VS Code breaks a longer line. */
function linksFor(compute: Compute): Partial<Record<CommandId, string>> {
  const canConnect = compute.disabled !== true && workspace.isTrusted;
  return {
    'hostedPostgres.compute.copyHost': l10n.t('Copy Host'),
    'hostedPostgres.compute.copyConnectionString': l10n.t('Copy Connection String…'),
    ...(canConnect && { 'hostedPostgres.compute.openPsql': l10n.t('Open psql') }),
    ...(compute.current_state === 'active' && { 'hostedPostgres.compute.restart': l10n.t('Restart') }),
  };
}

/** Whether a host could belong to a compute that isn't loaded yet. */
function mayBeCompute({ host, port }: HostAtPosition, account: Account | undefined): boolean {
  if (looksLikeCompute(host)) return true;
  if (account === undefined || port === undefined || !isLoopback(host)) return false;
  return isLoopback(new URL(account.baseUrl).hostname);
}
