/** Whether the label of a branch or compute is its id or its name, as the user chose in the view's menu. */
import type { Memory } from '../memory.ts';
import { setNamesFirstKey } from './contextKey.ts';
import { sanitize } from '../../../base/sanitize.ts';

const ENTRY = 'hostedPostgres.namesFirst';

let areNamesFirst = false;

function setNamesFirst(areFirst: boolean): void {
  areNamesFirst = areFirst;
  setNamesFirstKey(areFirst);
}

/** Stores the choice for windows that open later. */
export class NameOrder {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
    setNamesFirst(memory.get(ENTRY) === true);
  }

  /** Whether the user, also in an earlier window, has chosen or was asked. */
  get isChosen(): boolean {
    return this.#memory.get(ENTRY) !== undefined;
  }

  async change(areFirst: boolean): Promise<void> {
    await this.#memory.update(ENTRY, areFirst);
    setNamesFirst(areFirst);
  }
}

/**
 * The description is empty if there is only an id.
 * @param title with names first, for a record without a name
 */
export function idAndName(
  id: string,
  name: string | null | undefined,
  title = '',
): { readonly label: string; readonly description: string } {
  const [shownId, ownName] = [sanitize(id), sanitize(name ?? '')];
  const isNamed = ownName !== '' && ownName !== shownId;
  const shownName = isNamed ? ownName : title;
  if (shownName !== '' && areNamesFirst) return { label: shownName, description: shownId };
  return { label: shownId, description: isNamed ? ownName : '' };
}

/** Returns text such as `br-aged-salad-637688 (main)`, or `main (br-aged-salad-637688)` with names first. */
export function idWithName(id: string, name: string | null | undefined): string {
  const { label, description } = idAndName(id, name);
  return description === '' ? label : `${label} (${description})`;
}
