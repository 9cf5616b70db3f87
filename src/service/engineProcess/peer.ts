/**
 * Calls between the service and its engine process, as JSON over Node's channel between parent and child. Each side can
 * call the other. The service is root and the engine is not, so the service checks what it receives.
 */
import type { ChildProcess } from 'node:child_process';
import { EngineError } from '../core/computeEngine.ts';

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class Peer {
  readonly #other: ChildProcess | NodeJS.Process;
  readonly #handle: (method: string, args: readonly unknown[]) => unknown;
  readonly #pending = new Map<unknown, Pending>();
  #lastId = 0;
  #end: Error | undefined;

  /** @param handle performs calls of the other process */
  constructor(
    other: ChildProcess | NodeJS.Process,
    handle: (method: string, args: readonly unknown[]) => unknown,
  ) {
    this.#other = other;
    this.#handle = handle;
    other.on('message', (message: unknown) => void this.#receive(message));
  }

  /** @throws what the other process throws, and when it ends before it answers */
  async call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    if (this.#end !== undefined) throw this.#end;
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, args });
    });
  }

  /** A call without an answer. */
  notify(method: string, ...args: readonly unknown[]): void {
    this.#send({ method, args });
  }

  /** Fails all calls when the other process has ended. */
  fail(error: Error): void {
    this.#end = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #send(message: object): void {
    // If this fails, the other process has ended, and `fail` rejects the call.
    if (this.#other.connected) this.#other.send?.(message, undefined, undefined, () => undefined);
  }

  async #receive(message: unknown): Promise<void> {
    const [id, method, args] = ['id', 'method', 'args'].map((name) => fieldOf(message, name));
    if (typeof method !== 'string' || !Array.isArray(args)) return this.#settle(id, message);
    try {
      const value = await this.#handle(method, args);
      if (id !== undefined) this.#send({ id, value });
    } catch (error) {
      if (id !== undefined) this.#send({ id, failure: toFailure(error) });
    }
  }

  #settle(id: unknown, answer: unknown): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    const failure = fieldOf(answer, 'failure');
    if (failure === undefined) pending?.resolve(fieldOf(answer, 'value'));
    else pending?.reject(toError(failure));
  }
}

function toFailure(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  return { name: error.name, message: error.message, code: fieldOf(error, 'code') };
}

function toError(failure: unknown): Error {
  const [name, code] = ['name', 'code'].map((field) => fieldOf(failure, field));
  const message = String(fieldOf(failure, 'message'));
  if (name === 'EngineError') return new EngineError(message);
  return Object.assign(new Error(message), typeof code === 'string' ? { code } : {});
}

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;

/** @param types of the fields, as `typeof` returns them */
export const hasFields = (value: unknown, types: Readonly<Record<string, string>>): boolean =>
  Object.entries(types).every(([name, type]) => typeof fieldOf(value, name) === type);
