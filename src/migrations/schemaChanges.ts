/** Which objects a statement creates, renames or drops, by its tokens. */
import { identifierIn, isKeyword, type MeaningfulToken } from '../base/sql/sqlTokens.ts';

export interface NamedObject {
  /** The same for the statement that makes an object and the one that removes it. */
  readonly key: string;
  readonly name: string;
  /** For users, such as `table notes`. */
  readonly text: string;
  /** Whether migrations often make one only for themselves. */
  readonly canBeHelper: boolean;
}

interface SchemaChange {
  readonly object: NamedObject;
  readonly isRemoved: boolean;
}

type Tokens = readonly MeaningfulToken[];

/** Words between CREATE and the kind of the object. */
const MODIFIERS = [
  'or',
  'replace',
  'unique',
  'unlogged',
  'recursive',
  'materialized',
  'constraint',
  'foreign',
];
/** The kinds of objects whose name comes next. */
const KINDS = (
  'aggregate collation domain extension function index policy procedure publication ' +
  'role schema sequence statistics table trigger type view'
).split(' ');
const HELPERS = ['aggregate', 'constraint', 'function', 'procedure'];
/** Kinds whose names are unique only for their table. */
const OF_TABLES = ['policy', 'trigger'];

/** @returns nothing for statements about other kinds, or with names that only the server can read */
export function changesOf(tokens: Tokens): readonly SchemaChange[] {
  const reader = new NameReader(tokens);
  const verb = reader.word();
  if (verb === 'create' || verb === 'drop') return changesOfObjects(reader, tokens, verb === 'drop');
  return verb === 'alter' && reader.word() === 'table' ? changesOfTable(reader) : [];
}

function changesOfObjects(reader: NameReader, tokens: Tokens, isRemoved: boolean): readonly SchemaChange[] {
  reader.skip(MODIFIERS);
  const kind = reader.word();
  // This also leaves out temporary tables, which are gone with the session in any case.
  if (kind === undefined || !KINDS.includes(kind)) return [];
  reader.skip(['concurrently', 'if', 'not', 'exists']);
  const on = OF_TABLES.includes(kind) ? tokens.findIndex((token) => isKeyword(token, 'on')) : -1;
  const owner = on === -1 ? undefined : new NameReader(tokens, on + 1).name();
  const changes: SchemaChange[] = [];
  for (let name = reader.name(); name !== undefined; name = reader.name()) {
    changes.push({ object: objectOf(kind, name, owner), isRemoved });
    if (!isRemoved || !reader.skipSymbol(',')) break;
  }
  return changes;
}

function changesOfTable(reader: NameReader): readonly SchemaChange[] {
  reader.skip(['if', 'exists', 'only']);
  const name = reader.name();
  return name === undefined
    ? []
    : splitActions(reader.rest()).flatMap((action) => changesOfAction(name, action));
}

function changesOfAction(table: string, tokens: Tokens): readonly SchemaChange[] {
  const reader = new NameReader(tokens);
  const verb = reader.word();
  if (verb === 'rename') return changesOfRename(table, tokens);
  if (verb !== 'add' && verb !== 'drop') return [];
  const [, next] = tokens;
  // Without COLUMN, these begin a constraint without a name.
  if (UNNAMED.some((word) => isKeyword(next, word))) return [];
  const isConstraint = isKeyword(next, 'constraint');
  reader.skip(['column', 'constraint', 'if', 'not', 'exists']);
  const name = reader.name();
  const kind = isConstraint ? 'constraint' : 'column';
  return name === undefined ? [] : [{ object: objectOf(kind, name, table), isRemoved: verb === 'drop' }];
}

const UNNAMED = ['check', 'exclude', 'foreign', 'not', 'primary', 'unique'];

/** A rename makes the name change `old → new` and removes `new → old`, so that renaming back is recognized as taking it back. */
function changesOfRename(table: string, tokens: Tokens): readonly SchemaChange[] {
  const to = tokens.findIndex((token) => isKeyword(token, 'to'));
  const after = identifierIn(tokens[to + 1]);
  if (to === -1 || after === undefined) return [];
  const before = to === 1 ? undefined : identifierIn(tokens[to - 1]);
  const [owner, old] = before === undefined ? [undefined, table] : [table, before];
  return [
    { object: objectOf('name', `${after} → ${old}`, owner), isRemoved: true },
    { object: objectOf('name', `${old} → ${after}`, owner), isRemoved: false },
  ];
}

const objectOf = (kind: string, name: string, owner: string | undefined): NamedObject => ({
  key: JSON.stringify([kind, name, owner]),
  name,
  text: `${kind} ${owner === undefined ? '' : `${owner}.`}${name}`,
  canBeHelper: HELPERS.includes(kind),
});

class NameReader {
  readonly #tokens: Tokens;
  #at: number;

  constructor(tokens: Tokens, at = 0) {
    this.#tokens = tokens;
    this.#at = at;
  }

  /** Reads a word without quotes. */
  word(): string | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token?.kind === 'word' ? identifierIn(token) : undefined;
  }

  skip(words: readonly string[]): void {
    while (words.some((word) => isKeyword(this.#tokens[this.#at], word))) this.#at += 1;
  }

  /** Skips the symbol if it is next. @returns whether it was */
  skipSymbol(text: string): boolean {
    const isNext = this.#tokens[this.#at]?.text === text;
    if (isNext) this.#at += 1;
    return isNext;
  }

  /** Reads a name. The schema isn't part of it, because either statement may leave it out. */
  name(): string | undefined {
    let name: string | undefined;
    do {
      name = identifierIn(this.#tokens[this.#at]);
      this.#at += 1;
    } while (this.skipSymbol('.'));
    return name;
  }

  rest(): Tokens {
    return this.#tokens.slice(this.#at);
  }
}

/** Splits the actions of an ALTER TABLE at the commas that aren't in parentheses. */
function splitActions(tokens: Tokens): readonly Tokens[] {
  const actions: MeaningfulToken[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    depth += token.text === '(' ? 1 : token.text === ')' ? -1 : 0;
    if (depth === 0 && token.text === ',') actions.push([]);
    else actions.at(-1)?.push(token);
  }
  return actions;
}
