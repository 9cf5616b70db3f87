// This file is separate from `sanitize.ts`, which is loaded at activation, when `shortLine` isn't needed.

/** Returns the text as one line of limited length, with single spaces. */
export function shortLine(text: string, maxLength: number): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
