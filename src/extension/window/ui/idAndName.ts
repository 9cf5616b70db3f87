/** Whether the label of a branch or compute is its name or its id, as the user chose in the view's menu. */
import type { Memory } from '../memory.ts';
import { setNamesFirstKey } from './contextKey.ts';
import { sanitize } from '../../../base/sanitize.ts';

const ENTRY = 'hostedPostgres.idsFirst';

let areNamesFirst = true;

function setNamesFirst(areFirst: boolean): void {
  areNamesFirst = areFirst;
  setNamesFirstKey(areFirst);
}

/** Stores the choice for windows that open later. Names come first unless the user has chosen ids. */
export class NameOrder {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
    setNamesFirst(memory.get(ENTRY) !== true);
  }

  async change(areFirst: boolean): Promise<void> {
    await this.#memory.update(ENTRY, areFirst ? undefined : true);
    setNamesFirst(areFirst);
  }
}

/**
 * Returns the label and the description of a branch or compute. The description is empty if there is only an id.
 * @param title what to show for a record without a name while names are first
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

/** Returns text such as `main (br-aged-salad-637688)`, or `br-aged-salad-637688 (main)` with ids first. */
export function idWithName(id: string, name: string | null | undefined): string {
  const { label, description } = idAndName(id, name);
  return description === '' ? label : `${label} (${description})`;
}
