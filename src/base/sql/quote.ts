/** Quotes a name. Postgres reads names without quotes in lower case. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns a literal. Postgres reads backslashes in it unchanged, unless `standard_conforming_strings` is off. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
