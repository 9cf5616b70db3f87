/** The computes of a project by id, oldest first. */
import type { ComputeRecord, StoredCompute } from './storedRecords.ts';

export class ComputeMap extends Map<string, StoredCompute> {
  #records: readonly ComputeRecord[] | undefined;

  /** The public records: the same list until one of them changes, so what is made of it can be kept with it. */
  get records(): readonly ComputeRecord[] {
    this.#records ??= [...this.values()].map(({ record }) => record);
    return this.#records;
  }

  override set(id: string, compute: StoredCompute): this {
    this.#records = undefined;
    return super.set(id, compute);
  }

  override delete(id: string): boolean {
    this.#records = undefined;
    return super.delete(id);
  }

  override clear(): void {
    this.#records = undefined;
    super.clear();
  }
}
