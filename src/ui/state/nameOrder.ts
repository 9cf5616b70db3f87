/** Remembers whether names or ids come first, for all windows that open later. */
import type { Memory } from '../../model/memory.ts';
import { setNamesFirst } from '../text/idAndName.ts';
import { setNamesFirstKey } from './contextKey.ts';

const ENTRY = 'hostedPostgres.namesFirst';

export class NameOrder {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#apply();
  }

  async change(areNamesFirst: boolean): Promise<void> {
    await this.#memory.update(ENTRY, areNamesFirst);
    this.#apply();
  }

  #apply(): void {
    const areNamesFirst = this.#memory.get(ENTRY) === true;
    setNamesFirst(areNamesFirst);
    setNamesFirstKey(areNamesFirst);
  }
}
