/**
 * Parameters as text for Postgres, from the text of the request: a parsed number may have lost digits, and a parsed object
 * may be nested too deeply to be written as JSON again.
 */
import { badRequest } from '../../core/serviceErrors.ts';

/** The most dimensions that Postgres allows for an array. */
const MAX_DIMENSIONS = 6;

/** Returns the parameters of each query. @param body valid, of one query or of several */
export function readParameters(body: string, isBatch: boolean): (string | null)[][] {
  const queries = isBatch ? elementsOf(membersOf(body.trim()).get('queries')) : [body.trim()];
  return queries.map((query) => elementsOf(membersOf(query).get('params')).map(parameterText));
}

/**
 * Returns the text of a parameter for Postgres; null for `null`. Numbers stay as they were written, but an integer such as `1.0`
 * becomes `1`.
 */
function parameterText(json: string): string | null {
  switch (json[0]) {
    case '"':
      return String(JSON.parse(json));
    case '[':
      return arrayText(json);
    case 'n':
      return null;
    default:
      return INTEGER.test(json) && Number.isSafeInteger(Number(json)) ? String(Number(json)) : json;
  }
}

/** Matches integers as clients may write them, such as `1.0` by Python. For an integer, Postgres takes only `1`. */
const INTEGER = /^-?\d+(\.0+)?(e\+?\d+)?$/i;

function arrayText(json: string, dimension = 1): string {
  if (dimension > MAX_DIMENSIONS) throw badRequest(`An array has more than ${MAX_DIMENSIONS} dimensions.`);
  const elements = elementsOf(json).map((element) => {
    if (element.startsWith('[')) return arrayText(element, dimension + 1);
    const text = parameterText(element);
    return text === null ? 'NULL' : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  });
  return `{${elements.join()}}`;
}

/** Returns the members of the object. If a name is there twice, the last value counts, as for `JSON.parse`. */
function membersOf(object: string): ReadonlyMap<unknown, string> {
  const members = new Map<unknown, string>();
  const parts = splitJson(object);
  for (let index = 0; index + 1 < parts.length; index += 2)
    members.set(JSON.parse(parts[index] ?? ''), parts[index + 1] ?? '');
  return members;
}

function elementsOf(array = 'null'): string[] {
  return array === 'null' ? [] : splitJson(array).filter((part) => part !== '');
}

/** Returns the texts of an array's elements, or of an object's names and values in turn; one empty text if there are none. */
function splitJson(json: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 1];
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charAt(at);
    if (char === '"') at = endOfString(json, at);
    else if (char === '[' || char === '{') depth += 1;
    else if (char === ']' || char === '}') depth -= 1;
    if (depth > 1 || (depth === 1 && char !== ',' && char !== ':')) continue;
    parts.push(json.slice(start, at).trim());
    start = at + 1;
  }
  return parts;
}

/** @param start where the string starts */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}
