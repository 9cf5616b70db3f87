/** The differences between two schemas, as written by pg_dump. */
import { diffArrays } from 'diff';

export interface SchemaDifference {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

export function compareSchemas(before: string, after: string): SchemaDifference {
  const [old, current] = [statementsOf(before), statementsOf(after)];
  const common = [...current].filter(([name]) => old.has(name));
  return {
    added: current.size - common.length,
    removed: old.size - common.length,
    changed: common.filter(([name, text]) => old.get(name) !== text).length,
  };
}

/** The statements that differ, with `-` before lines of `before` and `+` before those of `after`; empty without differences. */
export function schemaDiff(before: string, after: string): string {
  const [old, current] = [statementsOf(before), statementsOf(after)];
  const changed = [...new Set([...old.keys(), ...current.keys()])].filter(
    (name) => old.get(name) !== current.get(name),
  );
  return changed
    .map((name) => `-- ${name}\n${lineDiff(old.get(name) ?? '', current.get(name) ?? '')}`)
    .join('\n\n');
}

function lineDiff(before: string, after: string): string {
  const linesOf = (text: string) => (text === '' ? [] : text.split('\n'));
  return diffArrays(linesOf(before), linesOf(after))
    .flatMap(({ value, added, removed }) =>
      value.map((line) => `${added ? '+' : removed ? '-' : ' '}${line}`),
    )
    .join('\n');
}

/** The header of an object. The owner isn't part of its identity. */
const HEADER = /^--\n-- Name: (.*?)(?:; Owner: .*)?\n--$/m;

/** The statements for each object, such as a table or a grant, by its name and kind. */
function statementsOf(sql: string): ReadonlyMap<string, string> {
  const [, ...parts] = sql.replace(/\n--\n-- PostgreSQL database dump complete\n[^]*$/, '').split(HEADER);
  const statements = new Map<string, string>();
  for (let index = 0; index < parts.length; index += 2) {
    const [name = '', text = ''] = parts.slice(index, index + 2);
    statements.set(name, (statements.get(name) ?? '') + text.trim());
  }
  return statements;
}
