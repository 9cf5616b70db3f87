import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { window as vscodeWindow, type Terminal, type TerminalOptions, type Uri } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import { window } from '../../window/ui/window.ts';

/**
 * Password files for libpq, each for one terminal and readable only by the user. An environment variable would be visible to
 * every extension, and VS Code would store it with the terminal.
 */
export class PassFiles implements Disposable {
  readonly #storage: string;
  readonly #folders = new Map<Terminal, string>();
  #subscription: Disposable | undefined;

  constructor(globalStorage: Pick<Uri, 'fsPath'>) {
    this.#storage = globalStorage.fsPath;
  }

  /**
   * Opens a terminal with the path of a new file in its environment.
   * @param options without PGPASSWORD, which libpq would prefer
   * @param line a secret, see `passFileLine`
   */
  openTerminal(options: TerminalOptions, line: string): Terminal {
    const { file, folder } = this.#create(line);
    try {
      const terminal = window.createTerminal({ ...options, env: { ...options.env, PGPASSFILE: file } });
      this.#subscription ??= vscodeWindow.onDidCloseTerminal((closed) => this.#remove(closed));
      this.#folders.set(terminal, folder);
      return terminal;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Calls `run` with the path of a new file, which is deleted when the call has ended. @param line a secret, see `passFileLine` */
  async withPassFile<T>(line: string, run: (file: string) => Promise<T>): Promise<T> {
    const { file, folder } = this.#create(line);
    try {
      return await run(file);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  #create(line: string): { readonly folder: string; readonly file: string } {
    mkdirSync(this.#storage, { recursive: true });
    const folder = mkdtempSync(path.join(this.#storage, `psql-${process.pid}-`));
    const file = path.join(folder, 'pgpass');
    try {
      writeFileSync(file, line, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      // On a full disk, the file may have a part of the line.
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    return { folder, file };
  }

  /** Deletes all files. Running psql sessions continue, but ask for the password if they reconnect. */
  dispose(): void {
    this.#subscription?.dispose();
    for (const terminal of this.#folders.keys()) this.#remove(terminal);
  }

  #remove(terminal: Terminal): void {
    const folder = this.#folders.get(terminal);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    this.#folders.delete(terminal);
  }
}
