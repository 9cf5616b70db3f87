/** A terminal that shows what a SQL file prints. Ctrl+C cancels it. The terminal stays open until a key is pressed. */
import { EventEmitter, l10n, type Pseudoterminal } from 'vscode';
import type { StopSignals } from '../sql/runFile.ts';

/** The most characters of the output. VS Code keeps only the last lines, but would receive all. */
const MAX_OUTPUT = 5_000_000;

type Write = (text: string) => void;

/** A terminal of VS Code in which a function writes the output of a file. */
export class SqlFileTerminal implements Pseudoterminal {
  readonly #written = new EventEmitter<string>();
  readonly #closed = new EventEmitter<void>();
  readonly #run: (write: Write, stop: StopSignals) => Promise<string>;
  readonly #cancel = new AbortController();
  readonly #kill = new AbortController();
  #left = MAX_OUTPUT;
  #hasEnded = false;
  readonly onDidWrite = this.#written.event;
  readonly onDidClose = this.#closed.event;

  /** @param run called when the terminal is shown. It returns the last line, and never rejects */
  constructor(run: (write: Write, stop: StopSignals) => Promise<string>) {
    this.#run = run;
  }

  open(): void {
    const stop = { signal: this.#cancel.signal, kill: this.#kill.signal };
    void this.#run((text) => this.#write(text), stop).then((last) => {
      this.#hasEnded = true;
      this.#show(`\n${last}\n${l10n.t('Press any key to close the terminal.')}\n`);
    });
  }

  close(): void {
    this.#cancel.abort();
  }

  handleInput(data: string): void {
    if (this.#hasEnded) this.#closed.fire();
    else if (data === CTRL_C) {
      this.#show('^C\n');
      (this.#cancel.signal.aborted ? this.#kill : this.#cancel).abort();
    }
  }

  #write(text: string): void {
    if (this.#left <= 0) return;
    this.#show(text.slice(0, this.#left));
    this.#left -= text.length;
    if (this.#left <= 0) this.#show(`\n${l10n.t('The rest of the output is left out.')}\n`);
  }

  #show(text: string): void {
    this.#written.fire(withoutControlCharacters(text).replaceAll('\n', '\r\n'));
  }
}

const CTRL_C = '\u0003';

/** Removes control characters. Values of a database must not control the terminal, for example write to the clipboard. */
const withoutControlCharacters = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(/(?![\n\t])\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x24_00 + code) : '\ufffd';
  });
