/** The log that users read and attach to reports: no secret gets in, whatever it came with. */
import { window, type LogOutputChannel } from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { redact } from './redact.ts';

export class Log implements Disposable {
  readonly #channel: LogOutputChannel;
  /** Values known to be secret, which no pattern might recognise. In memory only. */
  readonly #secrets = new Set<string>();

  constructor() {
    this.#channel = window.createOutputChannel('Hosted Postgres', { log: true });
  }

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
    this.#channel.dispose();
  }
}

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
