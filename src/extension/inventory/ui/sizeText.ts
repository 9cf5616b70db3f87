/** Sizes of computes as text, with the decimal sign of the user's language. */
import { env } from 'vscode';
import { isFixedSize } from '../../../api/rules/sizes.ts';
import { computeSizeRange, type SizeFields } from '../computeStatus.ts';

/** Writes a number without options, so that the JavaScript engine keeps the formatter. A tree has thousands of sizes. */
export const numberText = (value: number): string => value.toLocaleString(env.language);

/** Returns text such as `0.25 CU` or `1–4 CU`; empty if the record has no size. */
export function sizeText(compute: SizeFields): string {
  const size = computeSizeRange(compute);
  if (size === undefined) return '';
  const [min, max] = [numberText(size.min), numberText(size.max)];
  return isFixedSize(size) ? `${min} CU` : `${min}–${max} CU`;
}
