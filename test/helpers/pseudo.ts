/**
 * A language that nobody speaks: every translated text stands in brackets, longer than it was and with accents. What
 * is on screen outside of the brackets, and is no data, was left out of the translation.
 */

/** VS Code's own name for such a language. */
export const PSEUDO = 'qps-ploc';

/** Kept as they are: places for values, targets of links, line ends, emphasis and code. */
const KEPT = /(\{\d+\}|\]\([^)]*\)|\[|\n|\*\*|`[^`]*`)/;

export const pseudo = (text: string): string =>
  text
    .split(KEPT)
    .map((part, index) => (index % 2 === 0 && part !== '' ? bracketed(part) : part))
    .join('');

const bracketed = (part: string): string => {
  const [, before = '', words = '', after = ''] = /^(\s*)(.*?)(\s*)$/s.exec(part) ?? [];
  return words === '' ? part : `${before}⟦${words.replaceAll(/[aeiou]/gi, '$&\u0301').normalize()}⟧${after}`;
};

/** Words of a text on screen that no translation made. @param data names and ids that are to be there as they are */
export function leftOut(text: string, data: readonly string[]): readonly string[] {
  let rest = text.replaceAll(/⟦[^⟧]*⟧/g, ' ');
  for (const each of data) rest = rest.replaceAll(each, ' ');
  return (
    rest
      .replaceAll(/\b(ep|br)-[a-z0-9-]+|https?:\S+|\d[\d.–]* CU|127\.0\.0\.1:\d+(\/api\/v2)?/g, ' ')
      .replaceAll(/\b\d+ (seconds?|minutes?|hours?|days?)\b/g, ' ')
      .match(/\p{L}{2,}/gu) ?? []
  );
}
