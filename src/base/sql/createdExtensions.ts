/** Finds the extensions that a SQL script creates. */
import { readStatements } from './readStatements.ts';
import { isKeyword, identifierIn, tokensOf } from './sqlTokens.ts';

/** Returns the names of the extensions in the order of the script, without those in comments and strings. What isn't SQL is skipped. */
export function findCreatedExtensions(text: string): string[] {
  const names = new Set<string>();
  for (const { kind, text: statement } of readStatements(text)) {
    const name = kind === 'statement' ? createdExtension(statement) : undefined;
    if (name !== undefined) names.add(name);
  }
  return [...names];
}

const CREATE = ['create', 'extension'];
const UNLESS_EXISTING = ['if', 'not', 'exists'];

function createdExtension(statement: string): string | undefined {
  const tokens = [...tokensOf(statement, CREATE.length + UNLESS_EXISTING.length + 1)];
  if (!CREATE.every((word, index) => isKeyword(tokens[index], word))) return undefined;
  const rest = tokens.slice(CREATE.length);
  const hasCondition = UNLESS_EXISTING.every((word, index) => isKeyword(rest[index], word));
  return identifierIn(rest[hasCondition ? UNLESS_EXISTING.length : 0]);
}
