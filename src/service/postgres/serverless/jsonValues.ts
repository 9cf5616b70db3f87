/** Values as JSON, for clients that don't ask for Postgres's own text. */
import { parse } from 'postgres-array';

type Convert = (text: string) => unknown;

/** `NaN` and `Infinity` are not JSON. */
const numberOrText: Convert = (text) => (Number.isFinite(Number(text)) ? Number(text) : text);
const bool: Convert = (text) => text === 't';
const json: Convert = (text) => JSON.parse(text) as unknown;
const same: Convert = (text) => text;
const arrayOf =
  (convert: Convert): Convert =>
  (text) =>
    // Bounds other than from 1 have no JSON.
    parse(text.replace(/^\[.*?\]=/, ''), convert);

/** By the object id of the type: its converter and the id of its array. Others stay text, also int8 and numeric. */
const TYPES: readonly (readonly [oid: number, arrayOid: number, convert: Convert])[] = [
  [16, 1000, bool],
  [21, 1005, numberOrText],
  [23, 1007, numberOrText],
  [700, 1021, numberOrText],
  [701, 1022, numberOrText],
  [114, 199, json],
  [3802, 3807, json],
  [20, 1016, same],
  [25, 1009, same],
  [1043, 1015, same],
  [1042, 1014, same],
  [1700, 1231, same],
  [2950, 2951, same],
  [1082, 1182, same],
  [1114, 1115, same],
  [1184, 1185, same],
];

const CONVERTERS = new Map(
  TYPES.flatMap(([oid, arrayOid, convert]) => [
    [oid, convert] as const,
    [arrayOid, arrayOf(convert)] as const,
  ]),
);

export const jsonValue = (text: string | null, oid: number): unknown =>
  text === null ? null : (CONVERTERS.get(oid) ?? same)(text);
