/** Which extensions a SQL script creates. */
import { SqlScript } from './sqlScript.ts';

const CREATE =
  /^create\s+extension\s+(?:if\s+not\s+exists\s+)?(?:"((?:[^"]|"")+)"|([a-z_\u0080-\u{10ffff}][\w$\u0080-\u{10ffff}]*))/iu;
const COPY_DATA = /^copy\s[^;]*\sfrom\s+stdin\b/i;

/** @returns names in their order, without those in comments and strings. What isn't SQL is skipped */
export function createdExtensions(text: string): string[] {
  // Commands of psql, but not what ends the data of COPY.
  const script = new SqlScript(text.replace(/^\\[a-z!].*$/gim, ''));
  const names: string[] = [];
  for (;;) {
    try {
      const statement = script.next();
      if (statement === undefined) return names;
      const [, quoted, plain] = CREATE.exec(statement.text) ?? [];
      const name = quoted?.replaceAll('""', '"') ?? plain?.toLowerCase();
      if (name !== undefined && !names.includes(name)) names.push(name);
      if (COPY_DATA.test(statement.text)) script.copyData();
    } catch {
      // A backslash within a line, or more in the line of a COPY: the next statement is read.
    }
  }
}
