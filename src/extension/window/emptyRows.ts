/** Knows when VS Code has got no rows of a tree, and so shows the welcome text of the view instead. */
import { pause } from '../../base/clock.ts';

/** Waits until VS Code shows a tree without rows. */
export class EmptyRows {
  #areEmpty = false;
  #waiting: (() => void)[] = [];

  /** Notes the first rows of the tree, and returns them for VS Code. */
  note<Row>(rows: Row[]): Row[] {
    this.#areEmpty = rows.length === 0;
    // This comes after the present turn, in which the rows are sent to VS Code.
    if (this.#areEmpty) void pause(0).then(() => this.#waiting.splice(0).forEach((resolve) => resolve()));
    return rows;
  }

  /** Resolves as soon as VS Code has no rows. It asks for them only while the view is visible. */
  async shown(): Promise<void> {
    if (!this.#areEmpty) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
