/** The log that users read and attach to reports: no secret gets in, whatever it came with. */
import { window, type LogOutputChannel } from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { redact } from './redact.ts';

export class Log implements Disposable {
  #made: LogOutputChannel | undefined;
  /** Values known to be secret, which no pattern might recognise. In memory only. */
  readonly #secrets = new Set<string>();

  /** From now on this value is left out wherever it turns up. */
  keepOut(secret: string): void {
    this.#secrets.add(secret);
  }

  /** A text without any secret that is known or can be recognised. */
  clean(text: string): string {
    return redact(text, this.#secrets);
  }

  info(text: string): void {
    this.#channel.info(this.clean(text));
  }

  warn(text: string): void {
    this.#channel.warn(this.clean(text));
  }

  /** @param doing what failed */
  error(doing: string, error: unknown): void {
    this.#channel.error(this.clean(`${doing}: ${describe(error)}`));
  }

  show(): void {
    this.#channel.show();
  }

  dispose(): void {
    this.#made?.dispose();
  }

  /** Made with the first line: a window in which nothing happens has no use for it. */
  get #channel(): LogOutputChannel {
    return (this.#made ??= window.createOutputChannel('Hosted Postgres', { log: true }));
  }
}

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
