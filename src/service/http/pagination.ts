/** Pages of a list: how many, and behind which item (an opaque cursor). */
import { HttpError } from '../core/httpError.ts';
import type { Call } from './routes.ts';

const badQuery = (message: string): HttpError => new HttpError(400, 'BAD_REQUEST', message);

/** @throws {HttpError} 400 for anything but a whole number from 1 to `max` */
export function limitOf(call: Call, fallback: number, max: number): number {
  const text = call.query('limit');
  if (text === undefined) return fallback;
  const limit = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > max) throw badQuery(`limit must be a whole number from 1 to ${max}.`);
  return limit;
}

export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url');

/** The position a cursor stands for. @throws {HttpError} 400 for what is no cursor of ours */
export function cursorOf(call: Call): string | undefined {
  const cursor = call.query('cursor');
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (encodeCursor(position) !== cursor) throw unknownCursor();
  return position;
}

export const unknownCursor = (): HttpError => badQuery('cursor is not one that this list gave.');

export function booleanOf(call: Call, name: string): boolean {
  const text = call.query(name);
  if (text === undefined || text === 'false') return false;
  if (text === 'true') return true;
  throw badQuery(`${name} must be true or false.`);
}

/** @throws {HttpError} 400 when it is missing */
export function requiredQuery(call: Call, name: string): string {
  const value = call.query(name);
  if (value === undefined) throw badQuery(`${name} is required.`);
  return value;
}
