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
