/** The log. Users attach it to bug reports, so every line is redacted. */
import { window, type LogOutputChannel } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import { hideKnownSecrets, redact } from '../../../base/redact.ts';

/** Writes lines without secrets to the output channel. */
export class Log implements Disposable {
  #output: LogOutputChannel | undefined;
  /** The secrets to redact that no pattern would recognize. They are only in memory. */
  readonly #secrets = new Set<string>();

  /** Redacts this value from now on. */
  addSecret(secret: string): void {
    this.#secrets.add(secret);
  }

  /** Returns the text without known or recognizable secrets. */
  clean(text: string): string {
    return redact(text, this.#secrets);
  }

  /** Returns data without known secrets, and otherwise unchanged. */
  hideKnownSecrets(text: string): string {
    return hideKnownSecrets(text, this.#secrets);
  }

  info(text: string): void {
    this.#channel.info(this.clean(text));
  }

  /** @param activity what failed, such as `Loading computes` */
  error(activity: string, error: unknown): void {
    this.#channel.error(this.clean(`${activity}: ${describeError(error)}`));
  }

  show(): void {
    this.#channel.show();
  }

  dispose(): void {
    this.#output?.dispose();
  }

  /** Created with the first line, because most windows need no output channel. */
  get #channel(): LogOutputChannel {
    return (this.#output ??= window.createOutputChannel('Hosted Postgres', { log: true }));
  }
}

const describeError = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
