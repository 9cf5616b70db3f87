/**
 * A pseudo-language: every translated text is put in brackets, with accents, and is longer than the original. Text on
 * screen outside of brackets that is not data was not translated.
 */

/** VS Code's name for the pseudo-language. */
export const PSEUDO = 'qps-ploc';

/** Kept unchanged: placeholders, link targets, line breaks, emphasis and code. */
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

/**
 * Returns those words on the screen that are not translated.
 * @param data names and ids that are not translated
 */
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
