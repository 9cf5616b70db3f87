/** Adds a server to the text of a `.mcp.json`. All else stays as it is, also comments, which some programs accept there. */
import { isDeepStrictEqual } from 'node:util';
import { fieldsOf } from '../../base/fieldsOf.ts';

interface Range {
  readonly start: number;
  readonly end: number;
}

interface ObjectRange {
  /** The values of the members, by name. */
  readonly members: ReadonlyMap<string, Range>;
  /** Where the last member ends; undefined if there is none. */
  readonly lastEnd: number | undefined;
  /** The index of the closing brace. */
  readonly close: number;
}

const SERVERS = 'mcpServers';
const STRING = '"(?:[^"\\\\]|\\\\.)*"';

/**
 * @param text empty for a new file
 * @returns the same text if it has the server already
 * @throws {SyntaxError} if it isn't JSON, or no object of servers
 */
export function withServer(text: string, name: string, server: object): string {
  if (text.trim() === '') return `${JSON.stringify({ [SERVERS]: { [name]: server } }, undefined, 2)}\n`;
  const plain = withoutLastCommas(withoutComments(text));
  const root: unknown = JSON.parse(plain);
  const servers = fieldsOf(root)[SERVERS];
  if (!isObject(root) || (servers !== undefined && !isObject(servers)))
    throw new SyntaxError(`${SERVERS} is not an object`);
  if (isDeepStrictEqual(fieldsOf(servers)[name], server)) return text;
  const rootRange = objectAt(plain, plain.indexOf('{'));
  const serversRange = rootRange.members.get(SERVERS);
  const format = formatOf(text);
  if (serversRange === undefined)
    return insert(text, rootRange, memberText(SERVERS, { [name]: server }, 1, format), format);
  const inServers = objectAt(plain, serversRange.start);
  const old = inServers.members.get(name);
  const member = memberText(name, server, 2, format);
  if (old === undefined) return insert(text, inServers, member, format);
  return text.slice(0, old.start) + member.slice(member.indexOf('{')) + text.slice(old.end);
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const blank = (found: string): string => (found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' '));

/** As spaces, so that all positions stay. */
const withoutComments = (text: string): string =>
  text.replace(/^\uFEFF/, ' ').replace(new RegExp(`${STRING}|//[^\\r\\n]*|/\\*[^]*?\\*/`, 'g'), blank);

/** Commas before a closing bracket as spaces. */
const withoutLastCommas = (text: string): string =>
  text.replace(new RegExp(`${STRING}|,(?=\\s*[}\\]])`, 'g'), blank);

/** @param json valid. @param open the index of its brace */
function objectAt(json: string, open: number): ObjectRange {
  const members = new Map<string, Range>();
  const token = new RegExp(`${STRING}|[{}[\\],:]|[^\\s{}[\\],:"]+`, 'g');
  token.lastIndex = open + 1;
  let depth = 0;
  let [name, start, lastEnd]: [name?: string, start?: number, lastEnd?: number] = [];
  for (let found = token.exec(json); found !== null; found = token.exec(json)) {
    const [text] = found;
    const isEnd = depth === 0 && (text === ',' || text === '}');
    if (isEnd && name !== undefined && start !== undefined && lastEnd !== undefined)
      members.set(name, { start, end: lastEnd });
    if (isEnd && text === '}') return { members, lastEnd, close: found.index };
    if (isEnd) [name, start] = [undefined, undefined];
    else if (name === undefined) name = String(JSON.parse(text));
    else if (depth > 0 || text !== ':') {
      start ??= found.index;
      depth += /^[{[]/.test(text) ? 1 : /^[}\]]/.test(text) ? -1 : 0;
    }
    if (!isEnd) lastEnd = token.lastIndex;
  }
  throw new SyntaxError('an object does not end');
}

/** Appends a member. A comment behind the last one stays there. */
function insert(text: string, { lastEnd, close }: ObjectRange, member: string, format: Format): string {
  const head = text.slice(0, close).trimEnd();
  const space = text.slice(head.length, close);
  const hasComma = lastEnd === undefined || withoutComments(text).slice(lastEnd, close).includes(',');
  const before = hasComma ? head : `${head.slice(0, lastEnd)},${head.slice(lastEnd)}`;
  const end = space.includes('\n') ? space : format.eol;
  return before + format.eol + member + end + text.slice(close);
}

interface Format {
  readonly unit: string;
  readonly eol: string;
}

const formatOf = (text: string): Format => ({
  unit: /^[\t ]+(?=")/m.exec(text)?.[0] ?? '  ',
  eol: text.includes('\r\n') ? '\r\n' : '\n',
});

const memberText = (name: string, value: object, depth: number, { unit, eol }: Format): string =>
  `${JSON.stringify(name)}: ${JSON.stringify(value, undefined, unit)}`
    .split('\n')
    .map((line) => unit.repeat(depth) + line)
    .join(eol);
