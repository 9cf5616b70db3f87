/** What our splitter would send for a script, to a server that replies as `psqlRecorder` does. */
import { SqlLexer } from '../../src/base/sql/sqlLexer.ts';
import { SqlScript } from '../../src/base/sql/sqlScript.ts';
import { replyTo, type Sent } from './psqlRecorder.ts';

/** @param text the script, with a character for each byte. Commands of psql are skipped, as if they had run. */
export function splitScript(text: string): Sent[] {
  const script = new SqlScript(text);
  const sent: Sent[] = [];
  for (let next = script.next(); next !== undefined; next = script.next()) {
    if (next.kind === 'command') continue;
    sent.push(['statement', next.text]);
    const { isCopy, standardStrings } = replyTo(next.text);
    if (standardStrings !== undefined) script.setStandardStrings(standardStrings === 'on');
    for (let count = 0; count < next.copies; count += 1) {
      const data = script.copyData();
      if (isCopy) sent.push(['data', data]);
    }
  }
  return sent;
}

/**
 * psql leaves out empty lines, and sends semicolons and comments without a statement. Before version 18 it also sends the line
 * that ends data.
 */
export const comparable = (sent: readonly Sent[]): Sent[] =>
  sent
    .filter(([kind, text]) => kind === 'data' || !isEmpty(text))
    .map(([kind, text]) => [
      kind,
      kind === 'data' ? text.replace(/(^|\n)\\\.\r?\n$/, '$1') : text.replaceAll(/\s+/g, ' ').trim(),
    ]);

function isEmpty(statement: string): boolean {
  const lexer = new SqlLexer(statement);
  for (let token = lexer.next(); token !== undefined; token = lexer.next())
    if (!/^(?:space|comment)$/.test(token.kind) && statement.slice(token.start, token.end) !== ';')
      return false;
  return true;
}
