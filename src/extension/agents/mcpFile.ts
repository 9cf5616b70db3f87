/** Adds a server to the text of a `.mcp.json`. All else stays as it is, also comments, which some programs accept there. */
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, parse, printParseErrorCode, type ParseError } from 'jsonc-parser';
import { fieldsOf } from '../../base/fieldsOf.ts';

const SERVERS = 'mcpServers';

/**
 * @param text empty for a new file
 * @returns the same text if it has the server already
 * @throws {SyntaxError} if the text isn't JSON, or its servers aren't an object
 */
export function addMcpServer(text: string, name: string, server: object): string {
  if (text.trim() === '') return `${JSON.stringify({ [SERVERS]: { [name]: server } }, undefined, 2)}\n`;
  const errors: ParseError[] = [];
  const root: unknown = parse(text, errors, { allowTrailingComma: true });
  const [problem] = errors;
  if (problem !== undefined)
    throw new SyntaxError(`${printParseErrorCode(problem.error)} at character ${problem.offset}`);
  const servers = fieldsOf(root)[SERVERS];
  if (!isPlainObject(root) || (servers !== undefined && !isPlainObject(servers)))
    throw new SyntaxError(`${SERVERS} is not an object`);
  if (isDeepStrictEqual(fieldsOf(servers)[name], server)) return text;
  const formattingOptions = {
    insertSpaces: !/^\t+(?=")/m.test(text),
    tabSize: /^ +(?=")/m.exec(text)?.[0].length ?? 2,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
  // The server is added as the first one. If it were the last one, a comment behind the previous one would move, and its line
  // would be formatted.
  return applyEdits(
    text,
    modify(text, [SERVERS, name], server, { formattingOptions, getInsertionIndex: () => 0 }),
  );
}

const isPlainObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
