/** Quotes a text as one word for a shell of Unix. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
