/** Translates texts for windows into their language. For other programs, texts stay in English. */

/** The part of `vscode.l10n` and `vscode.env` that such texts need. */
export interface Translator {
  /** The language of numbers, such as `de`. */
  readonly language: string;
  /** Translates a text, and replaces `{0}`, `{1}` and so on in it by the values. */
  t(text: string, ...values: (string | number)[]): string;
}

/** Translates nothing, for agents and programs. */
export const ENGLISH: Translator = {
  language: 'en',
  t: (text, ...values) => text.replaceAll(/\{(\d+)\}/g, (_, index) => String(values[Number(index)])),
};

/**
 * Returns a number with its unit, such as `4.6 sec`. The period of an abbreviation, such as that of the German `Sek.`, is left out,
 * because a sentence may end there.
 * @param language a BCP 47 tag, such as `de`
 * @param unit a unit that `Intl` knows, such as `second`
 */
export const unitText = (
  language: string,
  value: number,
  unit: string,
  options: Intl.NumberFormatOptions = {},
): string =>
  new Intl.NumberFormat(language, { ...options, style: 'unit', unit, unitDisplay: 'short' })
    .format(value)
    .replace(/\.$/, '');

/** Returns a number of bytes in the unit that fits, such as `4.6 MB`. */
export function bytesText(language: string, bytes: number): string {
  if (bytes < 1e6) return unitText(language, bytes / 1e3, 'kilobyte', { maximumFractionDigits: 0 });
  return bytes < 1e9
    ? unitText(language, bytes / 1e6, 'megabyte', { maximumFractionDigits: 1 })
    : unitText(language, bytes / 1e9, 'gigabyte', { maximumFractionDigits: 1 });
}
