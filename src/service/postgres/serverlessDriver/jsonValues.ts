/** Values as JSON text, for clients that don't ask for Postgres's own text. Numbers and JSON stay as Postgres writes them. */
import { parse } from 'postgres-array';

type Convert = (text: string) => string;

const quotedText: Convert = (text) => JSON.stringify(text);
/** Returns a number as JSON, which has no `NaN` and `Infinity`: they become texts. */
const numberOrText: Convert = (text) => (/^-?\d/.test(text) ? text : quotedText(text));
const booleanText: Convert = (text) => String(text === 't');
const unchangedJson: Convert = (text) => text;

type Elements = readonly (string | null | Elements)[];

const arrayText = (elements: Elements): string =>
  `[${elements.map((each) => (typeof each === 'object' && each !== null ? arrayText(each) : String(each))).join()}]`;
const convertArray =
  (convert: Convert): Convert =>
  (text) =>
    // JSON has no place for the bounds of an array, which don't begin with 1.
    arrayText(parse<string | null | Elements>(text.replace(/^\[.*?\]=/, ''), convert));

/** The object ids of a type and of its array, and the converter for both. */
const TYPES: readonly (readonly [oid: number, arrayOid: number, convert: Convert])[] = [
  [16, 1000, booleanText],
  [21, 1005, numberOrText],
  [23, 1007, numberOrText],
  [700, 1021, numberOrText],
  [701, 1022, numberOrText],
  [114, 199, unchangedJson],
  [3802, 3807, unchangedJson],
];
/** The arrays of int8, text, varchar, char, numeric, uuid, date, timestamp and timestamptz, whose values stay text. */
const TEXT_ARRAYS = [1016, 1009, 1015, 1014, 1231, 2951, 1182, 1115, 1185];

const CONVERTERS = new Map([
  ...TYPES.map(([oid, , convert]) => [oid, convert] as const),
  ...TYPES.map(([, arrayOid, convert]) => [arrayOid, convertArray(convert)] as const),
  ...TEXT_ARRAYS.map((oid) => [oid, convertArray(quotedText)] as const),
]);

export const jsonValue = (text: string | null, oid: number): string =>
  text === null ? 'null' : (CONVERTERS.get(oid) ?? quotedText)(text);
