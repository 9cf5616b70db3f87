/**
 * Checks scripts that Postgres runs as superuser in a schema of a user. They must call no function, because a hostile function could
 * have the name of the one that they mean.
 *
 * What is checked is what is run: the script is written again from the tokens that were checked, without comments. It has only
 * tokens that every version of Postgres reads in the same way with all settings, and each semicolon ends a statement. So by the
 * grammar of Postgres, the first words of a statement decide what the statement is. A test asks Postgres's own parser.
 */
import { SqlLexer, type SqlToken } from '../../../base/sql/sqlLexer.ts';
import { isKeyword, tokensOf, type MeaningfulToken } from '../../../base/sql/sqlTokens.ts';

/** First words of statements that run no function. */
const DEFINITIONS = [
  ['comment', 'on'],
  ...['function', 'type', 'operator', 'cast', 'aggregate', 'view'].flatMap((kind) => [
    ['create', kind],
    ['create', 'or', 'replace', kind],
  ]),
  ['create', 'access', 'method'],
  ['drop', 'aggregate'],
];
/** The settings that scripts may change until they end: those of messages and their encoding. */
const MESSAGES = ['client_encoding', 'client_min_messages', 'log_min_messages'];

/** Returns the script without comments, and with its settings made local to it; undefined if it does more than define. */
export function rewriteIfOnlyDefinitions(script: string): string | undefined {
  // The first line is a message of psql. Postgres skips such lines, too.
  const statements = statementsOf(script.replace(/^\\echo.*$/gm, ''));
  const checked = statements?.map(rewriteStatement);
  return checked?.some((each) => each === undefined) === false
    ? checked.map((each) => `${each};\n`).join('')
    : undefined;
}

/**
 * Splits a script into statements without comments and semicolons.
 * @returns undefined if a setting or psql decides how a token is read
 */
function statementsOf(script: string): string[] | undefined {
  const lexer = new SqlLexer(script);
  const statements = [''];
  for (let token = lexer.next(); token !== undefined; token = lexer.next()) {
    const text = script.slice(token.start, token.end);
    if (isAmbiguous(token, text)) return undefined;
    if (token.kind === 'symbol' && text === ';') statements.push('');
    else statements.push((statements.pop() ?? '') + (token.kind === 'comment' ? ' ' : text));
  }
  return statements.map((each) => each.trim()).filter((each) => each !== '');
}

/**
 * Whether a token can mean different things. `standard_conforming_strings` decides what a backslash means, and only psql knows its
 * variables and commands.
 */
const isAmbiguous = ({ kind }: SqlToken, text: string): boolean =>
  kind === 'variable' ||
  kind === 'escaped' ||
  kind === 'backslash' ||
  (text.startsWith("'") && text.includes('\\'));

function rewriteStatement(statement: string): string | undefined {
  const tokens = [...tokensOf(statement)];
  if (beginsWith(tokens, ['set']))
    return localSetting(tokens.slice(beginsWith(tokens, ['set', 'local']) ? 2 : 1));
  const isParallel =
    beginsWith(tokens, ['alter', 'function']) && beginsWith(tokens.slice(-2), ['parallel', 'safe']);
  return isParallel || DEFINITIONS.some((words) => beginsWith(tokens, words)) ? statement : undefined;
}

const beginsWith = (tokens: readonly MeaningfulToken[], words: readonly string[]): boolean =>
  words.every((word, index) => isKeyword(tokens[index], word));

const localSetting = (tokens: readonly MeaningfulToken[]): string | undefined =>
  MESSAGES.some((name) => isKeyword(tokens[0], name))
    ? `SET LOCAL ${tokens.map(({ text }) => text).join(' ')}`
    : undefined;
