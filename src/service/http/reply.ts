/** What a route answers, and how refusals and accidents look on the wire. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { HttpError } from '../core/httpError.ts';

export interface Reply {
  readonly status: number;
  /** JSON, as text or in UTF-8, or undefined for a reply without a body. */
  readonly json: string | Buffer | undefined;
}

export const reply = (value: unknown, status = 200): Reply => ({ status, json: JSON.stringify(value) });

const texts = new WeakMap<object, string>();

/** The JSON of an immutable record, made once. */
export function recordJson(record: object): string {
  let text = texts.get(record);
  if (text === undefined) texts.set(record, (text = JSON.stringify(record)));
  return text;
}

const lists = new WeakMap<readonly object[], Buffer>();

/** `{"name":[…]}` of an immutable list of immutable records, made once. Always call it with the same name. */
export function keptListJson(name: string, records: readonly object[]): Buffer {
  let bytes = lists.get(records);
  if (bytes === undefined) lists.set(records, (bytes = Buffer.from(listJson(name, records))));
  return bytes;
}

/** `{"name":[…]}` of immutable records, with further properties behind them. */
export const listJson = (
  name: string,
  records: readonly object[],
  more: Record<string, unknown> = {},
): string => {
  const rest = Object.entries(more).map(([key, value]) => `,${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `{"${name}":[${records.map(recordJson).join(',')}]${rest.join('')}}`;
};

const SANE_REQUEST_ID = /^[\w.:-]{1,64}$/;

/** The caller's `X-Request-ID` where it is harmless, else one of ours. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE_REQUEST_ID.test(given) ? given : randomUUID();
}

export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function errorReply(refusal: HttpError, requestId: string): ErrorReply {
  const { status, code, message } = refusal;
  return {
    status,
    headers: { ...refusal.headers, 'content-type': 'application/json', 'x-request-id': requestId },
    text: JSON.stringify({ request_id: requestId, code, message }),
  };
}
