/** Where the keys of a JSON object stand in its text, for messages about them. Reads unfinished text too. Pure. */

/** Offsets in UTF-16 units; `end` is behind the last character. */
export interface KeyRange {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** A string that is not closed goes to the end of its line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\]]/g;

/** The keys of the outermost object, quotes included in their places, in the order of the text. */
export function topLevelKeys(text: string): KeyRange[] {
  const places: KeyRange[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1) {
      const end = index + token.length;
      const key = /^\s*:/.test(text.slice(end, end + 200)) ? parseKey(token) : undefined;
      if (key !== undefined) places.push({ key, start: index, end });
    }
  }
  return places;
}

function parseKey(token: string): string | undefined {
  try {
    return String(JSON.parse(token));
  } catch {
    // Not closed, or an escape that is none: the JSON language itself says so.
    return undefined;
  }
}
