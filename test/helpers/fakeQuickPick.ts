/** The quick picks of the `vscode` module that tests load. */

export const BACK_BUTTON = {};

interface FakeItem {
  readonly label: string;
  readonly description?: string;
  readonly alwaysShow?: boolean;
}

/** A quick pick. As in VS Code, the first of new items that matches the text becomes active, and one that doesn't match never. */
export class FakeQuickPick {
  readonly #selected = new Set<(items: readonly { readonly label: string }[]) => void>();
  readonly #accepted = new Set<() => void>();
  readonly #hidden = new Set<() => void>();
  readonly #pressed = new Set<(button: unknown) => void>();
  readonly #itemPressed = new Set<(pressed: { readonly item: unknown; readonly button: unknown }) => void>();
  readonly onDidChangeSelection = listenersOf(this.#selected);
  readonly onDidAccept = listenersOf(this.#accepted);
  readonly onDidHide = listenersOf(this.#hidden);
  readonly onDidTriggerButton = listenersOf(this.#pressed);
  readonly onDidTriggerItemButton = listenersOf(this.#itemPressed);
  readonly #changed = new Set<(text: string) => void>();
  readonly onDidChangeValue = listenersOf(this.#changed);
  value = '';
  buttons: readonly unknown[] = [];
  busy = false;
  placeholder = '';
  step: number | undefined;
  totalSteps: number | undefined;
  #items: readonly FakeItem[] = [];
  #activeItems: readonly FakeItem[] = [];

  get items(): readonly FakeItem[] {
    return this.#items;
  }

  set items(items: readonly FakeItem[]) {
    this.#items = items;
    this.activeItems = items.filter((item) => this.#isShown(item)).slice(0, 1);
  }

  get activeItems(): readonly FakeItem[] {
    return this.#activeItems;
  }

  set activeItems(items: readonly FakeItem[]) {
    this.#activeItems = items.filter((item) => this.#isShown(item));
  }

  #isShown({ label, description = '', alwaysShow }: FakeItem): boolean {
    return alwaysShow === true || `${label}\n${description}`.toLowerCase().includes(this.value.toLowerCase());
  }

  get active(): string | undefined {
    return this.activeItems[0]?.label;
  }

  /** Makes the next item active, as the Down key does. */
  down(): void {
    const index = this.items.findIndex((item) => item === this.activeItems[0]);
    this.activeItems = this.items.slice(index + 1, index + 2);
  }

  /** Types a text, for which VS Code would show only some items. */
  type(text: string): void {
    this.value = text;
    for (const listener of this.#changed) listener(text);
  }

  /** Accepts the active item, as the Enter key does. */
  accept(): void {
    for (const listener of this.#selected) listener(this.activeItems);
    for (const listener of this.#accepted) listener();
  }

  /** Presses a button of an item, by the item's label and the button's tooltip. */
  press(label: string, tooltip: string): void {
    const item:
      | { readonly label: string; readonly buttons?: readonly { readonly tooltip?: string }[] }
      | undefined = this.#items.find((each) => each.label === label);
    const button = item?.buttons?.find((each) => each.tooltip === tooltip);
    for (const listener of this.#itemPressed) listener({ item, button });
  }

  back(): void {
    for (const listener of this.#pressed) listener(BACK_BUTTON);
  }

  cancel(): void {
    for (const listener of this.#hidden) listener();
  }

  show(): void {
    quickPicks.push(this);
  }

  dispose(): void {
    quickPicks.splice(quickPicks.indexOf(this), 1);
  }
}

const listenersOf =
  <Listener>(listeners: Set<Listener>) =>
  (listener: Listener) => {
    listeners.add(listener);
    return { dispose: () => listeners.delete(listener) };
  };

/** The quick picks that are open. */
export const quickPicks: FakeQuickPick[] = [];
