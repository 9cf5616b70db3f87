/** Finds the keys of a JSON object in its text, for messages about them. The text may be incomplete. */

/** Offsets in UTF-16 units; `end` is after the last character. */
export interface KeyRange {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** An unclosed string ends with its line. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[{}[\]]/g;

/** The keys of the outermost object in the order of the text. Their ranges include the quotes. */
export function topLevelKeys(text: string): KeyRange[] {
  const ranges: KeyRange[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1) {
      const end = index + token.length;
      const key = /^\s*:/.test(text.slice(end, end + 200)) ? parseKey(token) : undefined;
      if (key !== undefined) ranges.push({ key, start: index, end });
    }
  }
  return ranges;
}

function parseKey(token: string): string | undefined {
  try {
    return String(JSON.parse(token));
  } catch {
    // Unclosed, or an invalid escape: VS Code's JSON support reports it.
    return undefined;
  }
}
