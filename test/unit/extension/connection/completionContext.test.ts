import assert from 'node:assert/strict';
import { completionContext } from '../../../../src/extension/connection/completionContext.ts';

/** The kind of the place at the last `|`, and what is typed, or is to be replaced, around it. */
function placeIn(marked: string): string | undefined {
  const column = marked.lastIndexOf('|');
  const line = marked.slice(0, column) + marked.slice(column + 1);
  const place = completionContext(line, column);
  if (place === undefined) return undefined;
  const { kind, start, end } = place;
  return `${kind} ${line.slice(start, column)}|${line.slice(column, end)}`;
}

const hostPlaces: readonly (readonly [line: string, place: string])[] = [
  // Environment files and shells
  ['PGHOST=|', 'host |'],
  ['PGHOST=ep-lit|', 'host ep-lit|'],
  ['export PGHOST="ep-|"', 'host ep-|'],
  ["PGHOST='|'", 'host |'],
  ['PGHOST = |', 'host |'],
  ['# PGHOST=|', 'host |'],
  ['POSTGRES_HOST=127.0.0.1:54|', 'host 127.0.0.1:54|'],
  ['POSTGRES_PRIMARY=|', 'host |'],
  ['POSTGRES_URL_NON_POOLING=|', 'uri |'],
  ['DATABASE_URL=|', 'uri |'],
  ['DATABASE_URL=ep-|', 'uri ep-|'],
  ['SHADOW_DATABASE_URL="|"', 'uri |'],
  ['DB_HOST=|', 'host |'],
  ['PGHOST=${PGHOST:-|}', 'host |'],
  ['set -x PGHOST |', 'host |'],
  ['$env:PGHOST = "|"', 'host |'],
  ['ENV PGHOST ep|', 'host ep|'],
  // YAML, TOML, JSON
  ['  PGHOST: |', 'host |'],
  ['  - POSTGRES_HOST=|', 'host |'],
  ['  database_url: "|"', 'uri |'],
  ['host = "|", dbname = "shop"', 'host |'],
  ['pg_host = "|"', 'host |'],
  ['  "PGHOST": "ep-|"', 'host ep-|'],
  // Languages
  ["process.env.PGHOST = '|';", 'host |'],
  ["const host = process.env.PGHOST ?? '|';", 'host |'],
  ["const client = new Client({ host: '|', database: 'shop', user: 'me' });", 'host |'],
  ['const databaseUrl = `|`;', 'uri |'],
  ['os.environ["PGHOST"] = "|"', 'host |'],
  ['os.environ.get("PGHOST", "|")', 'host |'],
  ["psycopg.connect(host='|', dbname='shop')", 'host |'],
  ['psycopg.connect("host=| dbname=shop user=me")', 'host |'],
  ['os.Setenv("PGHOST", "|")', 'host |'],
  ['std::env::set_var("PGHOST", "|");', 'host |'],
  ['ENV["PGHOST"] ||= "|"', 'host |'],
  ["'PGHOST' => '|',", 'host |'],
  ['psycopg.connect(host="|', 'host |'],
  ['await asyncpg.create_pool(host="ep-|")', 'host ep-|'],
  ['"Host=|;Database=shop;Username=me"', 'host |'],
  // Connection strings, anywhere
  ['postgresql://|', 'host |'],
  ['DATABASE_URL=postgresql://me:secret@|', 'host |'],
  ['DATABASE_URL=postgres://me:p%40ss@ep-|/shop', 'host ep-|'],
  ['url = "postgresql://me:secret@old|.example.com:5432/shop"', 'host old|.example.com:5432'],
  ['create_engine("postgresql+psycopg://me@|/shop")', 'host |'],
  ['jdbc:postgresql://|/shop', 'host |'],
  ['`postgres://${user}:${password}@|/shop`', 'host |'],
  ['postgresql://me@one.example.com:5432,tw|/shop', 'host tw|'],
  ['<a href="postgresql://me@|">', 'host |'],
  ['postgresql://me@127.0.0.1:5|/app', 'host 127.0.0.1:5|'],
];

const otherPlaces: readonly string[] = [
  '|',
  'const x = |',
  'HOST=|',
  'host: |',
  '<div host="|">',
  'smtp(host="|")',
  'PGUSER=|',
  'PGPORT=|',
  'POSTGRES_USER=|',
  'POSTGRES_REPLICATION_USER=|',
  'POSTGRES_PASSWORD=|',
  'POSTGRES_DB=|',
  'POSTGRES_PORT: |',
  'postgres_settings = |',
  'REDIS_URL=|',
  'DATABASE_URL=mysql://me@|',
  'DATABASE_URL=postgresql://me@host/|',
  'DATABASE_URL=postgresql://me@host/shop?host|',
  'https://me@|',
  'PGHOST|',
  'PGHOST=one two|',
];

describe('completionContext', () => {
  for (const word of ['HOST', 'HOSTNAME', 'SERVER', 'ENDPOINT']) {
    it(`finds a host in DB_${word}`, () => assert.equal(placeIn(`DB_${word}=|`), 'host |'));
  }

  for (const word of ['URL', 'URI', 'DSN', 'CONNECTION', 'CONN']) {
    it(`finds a connection string in DB_${word}`, () => assert.equal(placeIn(`DB_${word}=|`), 'uri |'));
  }

  for (const word of ['PG', 'POSTGRES', 'POSTGRESQL', 'DATABASE', 'DB']) {
    it(`finds a host in ${word}_SERVER`, () => assert.equal(placeIn(`${word}_SERVER=|`), 'host |'));
  }

  for (const [line, place] of hostPlaces) {
    it(`finds a host in ${line}`, () => assert.equal(placeIn(line), place));
  }

  for (const line of otherPlaces) {
    it(`finds none in ${line}`, () => assert.equal(placeIn(line), undefined));
  }

  for (const parent of [
    'database:',
    '  "db": {',
    'postgres: # of the shop',
    'psycopg.connect(',
    '  new Pool({',
  ])
    it(`finds a host below ${parent}`, () => {
      assert.equal(completionContext('    host: ', 10, parent)?.kind, 'host');
      assert.equal(completionContext('    hostile: ', 13, parent), undefined);
    });

  for (const parent of ['redis:', 'database: main', 'server: # database:', 'reconnect(now,'])
    it(`finds none below ${parent}`, () =>
      assert.equal(completionContext('    host: ', 10, parent), undefined));

  it('works at the end of a line of a megabyte', () => {
    const line = `${'x'.repeat(1_000_000)} postgresql://me@ep-`;
    assert.deepEqual(completionContext(line, line.length), {
      kind: 'host',
      typed: 'ep-',
      start: line.length - 3,
      end: line.length,
    });
  });

  it('reads up to 1000 characters before the cursor, and 260 of the host', () => {
    const kindAt = (line: string) => completionContext(line, line.length)?.kind;
    const uri = (length: number) => `postgresql://${'p'.repeat(length - 14)}@`;
    assert.equal(kindAt(uri(1000)), 'host');
    assert.equal(kindAt(`PGHOST=${'a'.repeat(260)}`), 'host');
    assert.equal(kindAt(`PGHOST=${'a'.repeat(261)}`), undefined);
  });

  it('takes linear time in hostile lines', () => {
    const hostile = ['postgres://', '@'.repeat(900), 'PGHOST'.repeat(150), 'a,'.repeat(450), ':'.repeat(900)];
    for (const line of [...hostile, hostile.join(''), 'postgres://'.repeat(90)]) {
      for (let column = 0; column <= line.length; column += 7) completionContext(line, column);
    }
  });
});
