/** The expanded projects of the Computes view, which the next window of the folder expands again. */
import { fieldsOf } from '../../base/fieldsOf.ts';
import type { Session } from '../account/session.ts';
import type { Memory } from '../window/memory.ts';

const ENTRY = 'hostedPostgres.expandedProjects';

/** The most projects that are remembered. Each of them is loaded when a window opens. */
const MAX_REMEMBERED = 20;

/** Remembers which projects the user has expanded. */
export class ExpandedProjects {
  readonly #session: Pick<Session, 'connection'>;
  readonly #memory: Memory;
  readonly #ids = new Set<string>();

  constructor(session: Pick<Session, 'connection'>, memory: Memory) {
    this.#session = session;
    this.#memory = memory;
  }

  /** The ids of the expanded projects, in the order in which they were expanded. */
  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /** Whether the project was expanded when it was last shown, also in an earlier window. */
  wasExpanded(id: string): boolean {
    return this.#remembered.includes(id);
  }

  /** Notes that a project is expanded. @returns false if it was already */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (!this.wasExpanded(id)) this.#remember([...this.#remembered, id].slice(-MAX_REMEMBERED));
    return true;
  }

  delete(id: string): void {
    this.#ids.delete(id);
    if (this.wasExpanded(id)) this.#remember(this.#remembered.filter((each) => each !== id));
  }

  /** Call this for another account, whose projects are remembered separately. */
  clear(): void {
    this.#ids.clear();
  }

  get #account(): string {
    return this.#session.connection?.accountId ?? '';
  }

  get #remembered(): readonly unknown[] {
    const ids = fieldsOf(this.#memory.get(ENTRY))[this.#account];
    return Array.isArray(ids) ? ids : [];
  }

  #remember(ids: readonly unknown[]): void {
    if (this.#account === '') return;
    void this.#memory.update(ENTRY, { ...fieldsOf(this.#memory.get(ENTRY)), [this.#account]: ids });
  }
}
