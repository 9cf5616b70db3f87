/** Reads the statements of a script that isn't run. */
import { isKeyword, tokensOf } from './sqlTokens.ts';
import { SqlScript, type ScriptCommand, type ScriptStatement } from './sqlScript.ts';

/** Returns statements and commands of psql in their order, without the data of COPY. All branches of `\if` are read. */
export function* readStatements(text: string): Generator<ScriptStatement | ScriptCommand> {
  const script = new SqlScript(text);
  for (let next = script.next(); next !== undefined; next = script.next()) {
    yield next;
    const isStandard = next.kind === 'statement' ? standardStringsIn(next.text) : undefined;
    if (isStandard !== undefined) script.setStandardStrings(isStandard);
    for (let count = 0; count < next.copies; count += 1) script.skipCopyData();
  }
}

/** Returns what a statement sets `standard_conforming_strings` to. Without a server, only the script itself shows that. */
function standardStringsIn(statement: string): boolean | undefined {
  if (!/standard_conforming_strings/i.test(statement)) return undefined;
  const [set, ...rest] = tokensOf(statement, 5);
  const place = isKeyword(rest[0], 'session') || isKeyword(rest[0], 'local') ? 1 : 0;
  const [name, sign, value] = rest.slice(place);
  if (!isKeyword(set, 'set') || !isKeyword(name, 'standard_conforming_strings')) return undefined;
  if (sign?.text !== '=' && !isKeyword(sign, 'to')) return undefined;
  return !/^'?(?:of|off|f|fa|fal|fals|false|n|no|0)'?$/i.test(value?.text ?? '');
}
