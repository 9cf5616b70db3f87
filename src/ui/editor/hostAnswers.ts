/** What completion and hover answer, from what is loaded. */
import type {
  CancellationToken,
  CompletionItem,
  CompletionList,
  Hover,
  Position,
  TextDocument,
} from 'vscode';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { ComputeIndex } from '../../model/computeIndex.ts';
import { FirstLook } from '../../model/firstLook.ts';
import { hostMention } from '../../model/hostMentions.ts';
import { hostPlace } from '../../model/hostPlaces.ts';
import { documented, hostItems, loadingItem, otherComputesItem } from './hostItems.ts';
import { hostHover, isWorthALook } from './hostHover.ts';
import type { EditorParts } from './providers.ts';
import { suggestAgain } from './suggestAgain.ts';

/** Computes offered at a time; typing on asks for others. */
const MOST = 100;

export class HostAnswers implements Disposable {
  readonly #parts: EditorParts;
  readonly #disposables = new DisposableStore();
  readonly #index: ComputeIndex;
  readonly #look: FirstLook;

  constructor(parts: EditorParts) {
    this.#parts = parts;
    this.#index = this.#disposables.add(new ComputeIndex(parts.inventory));
    this.#look = new FirstLook(parts.inventory, (error) => parts.log.error('Loading computes', error));
  }

  /** @returns undefined where no host is wanted */
  complete(document: TextDocument, position: Position): CompletionList | undefined {
    const place = hostPlace(document.lineAt(position.line).text, position.character);
    if (place === undefined) return undefined;
    const loading = this.#look.begin();
    const { hosts, hasMore } = this.#index.search(place.typed, MOST);
    const { config, inventory, logins } = this.#parts;
    const set = config.connectionString(document.uri);
    const context = {
      place,
      line: position.line,
      login: (id: string | undefined) => logins.propose(id, set),
      projectName: (id: string) => inventory.project(id)?.name ?? id,
    };
    const items: CompletionItem[] = hostItems(hosts, context);
    if (loading !== undefined) {
      items.push(loadingItem(context));
      suggestAgain(document, position, loading, () => this.#index.search('', 1).hosts.length > 0);
    } else if (this.#look.isPartial) items.push(otherComputesItem(context));
    // The item that leads elsewhere stays only if it is asked for anew: it matches nothing that is typed.
    return { items, isIncomplete: hasMore || items.length > hosts.length };
  }

  resolve(item: CompletionItem): CompletionItem {
    return documented(item);
  }

  /** Waits only where a compute is named that nobody has asked for yet. */
  async hover(
    document: TextDocument,
    position: Position,
    token: CancellationToken,
  ): Promise<Hover | undefined> {
    const mention = hostMention(document.lineAt(position.line).text, position.character);
    if (mention === undefined) return undefined;
    const known = this.#index.find(mention);
    if (known !== undefined) return hostHover(known, mention, position.line);
    if (!isWorthALook(mention, this.#parts.session.connection?.account)) return undefined;
    const cancelled = new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
    await Promise.race([this.#look.begin(), cancelled]);
    const found = token.isCancellationRequested ? undefined : this.#index.find(mention);
    return found && hostHover(found, mention, position.line);
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
