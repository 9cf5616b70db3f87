/**
 * What the service and its engine process send each other, as JSON over Node's channel between parent and child. The
 * service is root and the engine is not, so what comes from the engine is checked before it is used.
 */
import { EngineError, type ComputeEngine } from '../core/computeEngine.ts';

/** Calls of the service: those of an engine, and `begin` and `empty` (see engineProcess.ts). */
export type Method = Exclude<keyof ComputeEngine, 'pgVersion' | 'pooler'> | 'begin' | 'empty';

export type ToEngine =
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: Method;
      readonly args: readonly unknown[];
    }
  | { readonly kind: 'woken'; readonly id: number; readonly failure?: Failure };

export type FromEngine =
  | { readonly kind: 'result'; readonly id: number; readonly value?: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: Failure }
  | { readonly kind: 'wake'; readonly id: number; readonly computeId: string }
  | { readonly kind: 'activity'; readonly computeId: string; readonly open: number }
  | { readonly kind: 'crashed'; readonly computeId: string; readonly reason: string }
  | { readonly kind: 'log'; readonly line: string };

/** An error on its way to the other process. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

export function toFailure(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message } = error;
  const code = fieldOf(error, 'code');
  return typeof code === 'string' ? { name, message, code } : { name, message };
}

export function toError({ name, message, code }: Failure): Error {
  if (name === 'EngineError') return new EngineError(message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

/** The fields of each message, and their types. */
const SHAPES: Readonly<Record<FromEngine['kind'], Readonly<Record<string, string>>>> = {
  result: { id: 'number' },
  failed: { id: 'number', failure: 'object' },
  wake: { id: 'number', computeId: 'string' },
  activity: { computeId: 'string', open: 'number' },
  crashed: { computeId: 'string', reason: 'string' },
  log: { line: 'string' },
};

/** Whether it is a message that the engine may send. */
export function isFromEngine(value: unknown): value is FromEngine {
  const kind = fieldOf(value, 'kind');
  const shape = Object.entries(SHAPES).find(([name]) => name === kind)?.[1];
  if (shape === undefined || !hasFields(value, shape)) return false;
  return kind !== 'failed' || hasFields(fieldOf(value, 'failure'), { name: 'string', message: 'string' });
}

/** @param types of the fields, as `typeof` names them */
export const hasFields = (value: unknown, types: Readonly<Record<string, string>>): boolean =>
  Object.entries(types).every(([name, type]) => typeof fieldOf(value, name) === type);

export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined;
