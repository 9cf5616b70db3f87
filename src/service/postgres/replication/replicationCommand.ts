/**
 * Reads the commands of a replication connection that clients may use (src/backend/replication/repl_gram.y), and writes them again
 * for the sender. So Postgres gets only commands that were understood as a whole, in one spelling. All else is SQL of an ordinary
 * session, which has no other commands of replication.
 */
import { ClientRefusal } from '../network/refusal.ts';
import { quoteName, quoteText } from '../../../base/sql/quote.ts';

/** A command of a client for logical replication. Its `text` is passed to the process that sends changes. */
export type ReplicationCommand =
  | { readonly kind: 'identify' | 'start'; readonly text: string }
  | { readonly kind: 'drop'; readonly text: string; readonly slot: string }
  /** `usesSnapshot` means that the transaction of the client sees the data as of the beginning of the slot. */
  | {
      readonly kind: 'create';
      readonly text: string;
      readonly usesSnapshot: boolean;
      /** The command that undoes this one. */
      readonly undo: string;
    };

/** The output plugins of the Postgres package. No others are allowed, because Postgres would load any library that a client names. */
export const PLUGINS: readonly string[] = ['pgoutput', 'test_decoding'];

/** How commands begin that Postgres has and this address doesn't. The list only gives them a reason. */
const OTHERS: readonly string[] = [
  'alter_replication_slot',
  'base_backup',
  'read_replication_slot',
  'timeline_history',
  'upload_manifest',
];

interface Token {
  readonly kind: 'word' | 'name' | 'text' | 'position' | 'mark';
  readonly value: string;
}

/** One token, as `repl_scanner.l` reads it, and the white space before it. A word is one of letters that all servers fold alike. */
const TOKEN =
  /[ \t\n\r\f\v]*(?:(?<position>[0-9A-Fa-f]{1,8}\/[0-9A-Fa-f]{1,8})|(?<word>[A-Za-z_][A-Za-z0-9_$]*)|"(?<name>(?:[^"]|"")+)"|'(?<text>(?:[^']|'')*)'|(?<mark>[(),;]))/y;

/** Returns the tokens of a command; undefined if the text contains anything else. */
function splitTokens(sql: string): Token[] | undefined {
  const tokens: Token[] = [];
  const end = sql.replace(/[ \t\n\r\f\v]+$/, '').length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const groups = TOKEN.exec(sql)?.groups;
    if (groups === undefined) return undefined;
    const { position, word, name, text, mark } = groups;
    if (position !== undefined) tokens.push({ kind: 'position', value: position });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word.toLowerCase() });
    else if (name !== undefined) tokens.push({ kind: 'name', value: name.replaceAll('""', '"') });
    else if (text !== undefined) tokens.push({ kind: 'text', value: text.replaceAll("''", "'") });
    else tokens.push({ kind: 'mark', value: mark ?? '' });
  }
  return tokens;
}

/** Takes tokens from the left. @throws {ClientRefusal} if another one follows */
class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  /** Takes a word or a mark, if it follows. */
  takes(value: string): boolean {
    const token = this.#tokens[this.#at];
    const isNext = token !== undefined && 'word mark'.includes(token.kind) && token.value === value;
    if (isNext) this.#at += 1;
    return isNext;
  }

  take(...kinds: Token['kind'][]): string {
    const token = this.#tokens[this.#at];
    if (token === undefined || !kinds.includes(token.kind)) throw notServedRefusal();
    this.#at += 1;
    return token.value;
  }

  /** Returns undefined if no token of the kind follows. */
  option(kind: Token['kind']): string | undefined {
    return this.#tokens[this.#at]?.kind === kind ? this.take(kind) : undefined;
  }

  /** Reads the options in parentheses, if there are any. */
  options(): [name: string, value: string | undefined][] {
    const found: [string, string | undefined][] = [];
    if (!this.takes('(')) return found;
    do {
      const name = this.take('word', 'name');
      found.push([name, this.option('text') ?? this.option('word')]);
    } while (this.takes(','));
    if (!this.takes(')')) throw notServedRefusal();
    return found;
  }

  end(): void {
    this.takes(';');
    if (this.#at < this.#tokens.length) throw notServedRefusal();
  }
}

const notServedRefusal = (): ClientRefusal =>
  new ClientRefusal(
    '0A000',
    'this address serves logical replication only, without failover slots',
    'It has IDENTIFY_SYSTEM, CREATE_REPLICATION_SLOT … LOGICAL, START_REPLICATION SLOT … LOGICAL and DROP_REPLICATION_SLOT. ' +
      'For a copy of a branch, create a branch or a snapshot; for a copy of a database, use pg_dump',
  );

/** Returns a command of the replication protocol; undefined for SQL. @throws {ClientRefusal} for a command that isn't served */
export function readReplicationCommand(sql: string): ReplicationCommand | undefined {
  const [first, ...tokens] = splitTokens(sql) ?? [];
  if (first?.kind !== 'word') return undefined;
  if (OTHERS.includes(first.value)) throw notServedRefusal();
  const read = COMMANDS.get(first.value);
  if (read === undefined) return undefined;
  const reader = new Reader(tokens);
  const command = read(reader);
  reader.end();
  return command;
}

const COMMANDS = new Map<string, (reader: Reader) => ReplicationCommand>([
  ['identify_system', () => ({ kind: 'identify', text: 'IDENTIFY_SYSTEM' })],
  ['create_replication_slot', readCreation],
  ['start_replication', readStart],
  ['drop_replication_slot', readDrop],
]);

function readDrop(reader: Reader): ReplicationCommand {
  const slot = reader.take('word', 'name');
  const wait = reader.takes('wait') ? ' WAIT' : '';
  return { kind: 'drop', slot, text: `DROP_REPLICATION_SLOT ${quoteName(slot)}${wait}` };
}

function readCreation(reader: Reader): ReplicationCommand {
  const slot = reader.take('word', 'name');
  const temporary = reader.takes('temporary') ? ' TEMPORARY' : '';
  if (!reader.takes('logical')) throw notServedRefusal();
  const plugin = reader.take('word', 'name');
  if (!PLUGINS.includes(plugin))
    throw new ClientRefusal(
      '0A000',
      `the output plugin ${quoteName(plugin)} isn't there: ${PLUGINS.join(', ')} are`,
    );
  const legacy: [string, string | undefined][] = [];
  for (let word = reader.option('word'); word !== undefined; word = reader.option('word'))
    legacy.push(LEGACY.get(word) ?? [word, undefined]);
  let snapshot = 'export';
  let twoPhase = '';
  for (const [name, value = 'true'] of [...legacy, ...reader.options()])
    if (name === 'snapshot' && SNAPSHOTS.includes(value)) snapshot = value;
    else if (name === 'two_phase' && /^(?:true|false|on|off)$/.test(value)) twoPhase = `, TWO_PHASE ${value}`;
    // Newer clients write out the default of `failover`, so the default is accepted.
    else if (name !== 'failover' || value !== 'false') throw notServedRefusal();
  const usesSnapshot = snapshot === 'use';
  const options = `(SNAPSHOT ${quoteText(usesSnapshot ? 'export' : snapshot)}${twoPhase})`;
  return {
    kind: 'create',
    usesSnapshot,
    undo: `DROP_REPLICATION_SLOT ${quoteName(slot)}`,
    text: `CREATE_REPLICATION_SLOT ${quoteName(slot)}${temporary} LOGICAL ${quoteName(plugin)} ${options}`,
  };
}

const SNAPSHOTS: readonly string[] = ['export', 'use', 'nothing'];
/** How clients of servers before 15 write options. */
const LEGACY = new Map<string, [string, string]>([
  ['export_snapshot', ['snapshot', 'export']],
  ['noexport_snapshot', ['snapshot', 'nothing']],
  ['use_snapshot', ['snapshot', 'use']],
  ['two_phase', ['two_phase', 'true']],
]);

function readStart(reader: Reader): ReplicationCommand {
  if (!reader.takes('slot')) throw notServedRefusal();
  const slot = reader.take('word', 'name');
  if (!reader.takes('logical')) throw notServedRefusal();
  const position = reader.take('position');
  const options = reader
    .options()
    .map(([name, value]) =>
      value === undefined ? quoteName(name) : `${quoteName(name)} ${quoteText(value)}`,
    );
  const list = options.length === 0 ? '' : ` (${options.join(', ')})`;
  return {
    kind: 'start',
    text: `START_REPLICATION SLOT ${quoteName(slot)} LOGICAL ${position}${list}`,
  };
}
