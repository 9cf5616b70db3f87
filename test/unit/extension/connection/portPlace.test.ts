import assert from 'node:assert/strict';
import { completionContext, parentLine } from '../../../../src/extension/connection/completionContext.ts';
import { portPlace, withPort } from '../../../../src/extension/connection/portPlace.ts';

/** The text after `127.0.0.1:5433` was inserted at the `|`. */
function insertedInto(marked: string, host = '127.0.0.1:5433'): string {
  const before = marked.slice(0, marked.indexOf('|')).split('\n');
  const lines = marked.replace('|', '').split('\n');
  const line = before.length - 1;
  const document = {
    lineCount: lines.length,
    lineAt: (each: number) => ({ text: lines[each] ?? assert.fail(`no line ${each}`) }),
  };
  const column = before.at(-1)?.length ?? 0;
  const place = completionContext(lines[line] ?? '', column, parentLine(document, line));
  assert.equal(place?.kind, 'host');
  const { start, end } = place;
  const target = portPlace({ start, end }, line, document);
  const { text, port } = withPort(host, target);
  const edits = [{ line, start, end, text }];
  if (target.kind === 'instead' && port !== undefined) edits.push({ ...target, text: port });
  for (const edit of edits.toSorted((one, other) => other.start - one.start)) {
    const old = lines[edit.line] ?? '';
    lines[edit.line] = old.slice(0, edit.start) + edit.text + old.slice(edit.end);
  }
  return lines.join('\n');
}

const inserted: readonly (readonly [before: string, after: string])[] = [
  // Variables: in a separate line
  ['PGHOST=|', 'PGHOST=127.0.0.1\nPGPORT=5433'],
  ['  export PGHOST="|"', '  export PGHOST="127.0.0.1"\n  export PGPORT="5433"'],
  ['POSTGRES_HOST=old|', 'POSTGRES_HOST=127.0.0.1\nPOSTGRES_PORT=5433'],
  ['DB_SERVER: |', 'DB_SERVER: 127.0.0.1\nDB_PORT: 5433'],
  ['  - PGHOST=|', '  - PGHOST=127.0.0.1\n  - PGPORT=5433'],
  ['ENV PGHOST |', 'ENV PGHOST 127.0.0.1\nENV PGPORT 5433'],
  ['$env:PGHOST = "|"', '$env:PGHOST = "127.0.0.1"\n$env:PGPORT = "5433"'],
  ['  "PGHOST": "|",', '  "PGHOST": "127.0.0.1",\n  "PGPORT": "5433",'],
  ['  "PGHOST": "|"', '  "PGHOST": "127.0.0.1",\n  "PGPORT": "5433"'],
  ["process.env.PGHOST = '|';", "process.env.PGHOST = '127.0.0.1';\nprocess.env.PGPORT = '5433';"],
  ['os.environ["PGHOST"] = "|"', 'os.environ["PGHOST"] = "127.0.0.1"\nos.environ["PGPORT"] = "5433"'],
  ['os.Setenv("PGHOST", "|")', 'os.Setenv("PGHOST", "127.0.0.1")\nos.Setenv("PGPORT", "5433")'],
  // The port that is there already
  ['PGPORT=5432\nPGHOST=|', 'PGPORT=5433\nPGHOST=127.0.0.1'],
  ['PGHOST="|"\nPGUSER=me\nexport PGPORT="1"', 'PGHOST="127.0.0.1"\nPGUSER=me\nexport PGPORT="5433"'],
  ['{"PGHOST": "|", "PGPORT": 5432}', '{"PGHOST": "127.0.0.1", "PGPORT": 5433}'],
  [
    'PGPORT=1\nPGHOST=a\nPGHOST=|\n# PGPORT=2\nPGPORT=3',
    'PGPORT=1\nPGHOST=a\nPGHOST=127.0.0.1\n# PGPORT=2\nPGPORT=5433',
  ],
  // Fields
  ['psycopg.connect("host=| dbname=shop")', 'psycopg.connect("host=127.0.0.1 port=5433 dbname=shop")'],
  ['host=| port=5432 dbname=shop', 'host=127.0.0.1 port=5433 dbname=shop'],
  ['port=5432 host=| dbname=shop', 'port=5433 host=127.0.0.1 dbname=shop'],
  ['"Host=|;Database=shop"', '"Host=127.0.0.1;Port=5433;Database=shop"'],
  ["new Client({ host: '|', user: 'me' })", "new Client({ host: '127.0.0.1', port: '5433', user: 'me' })"],
  // Below what contains it
  ['database:\n  host: |', 'database:\n  host: 127.0.0.1\n  port: 5433'],
  [
    'db: # ours\n  adapter: postgresql\n\n  host: |\n  port: 5432\ncache:\n  port: 6379',
    'db: # ours\n  adapter: postgresql\n\n  host: 127.0.0.1\n  port: 5433\ncache:\n  port: 6379',
  ],
  [
    'database:\n  host: |\ncache:\n  port: 6379',
    'database:\n  host: 127.0.0.1\n  port: 5433\ncache:\n  port: 6379',
  ],
  ['psycopg.connect(host="|")', 'psycopg.connect(host="127.0.0.1", port="5433")'],
  ['connect(\n    host="|"\n)', 'connect(\n    host="127.0.0.1",\n    port="5433"\n)'],
  ["new Pool({\n  host: '|',\n})", "new Pool({\n  host: '127.0.0.1',\n  port: '5433',\n})"],
  // Connection strings take it with the host.
  ['DATABASE_URL=postgresql://me@|/shop', 'DATABASE_URL=postgresql://me@127.0.0.1:5433/shop'],
  // No place for it
  ["const host = process.env.PGHOST ?? '|';", "const host = process.env.PGHOST ?? '127.0.0.1:5433';"],
  ['POSTGRES_PRIMARY=|', 'POSTGRES_PRIMARY=127.0.0.1:5433'],
];

describe('portPlace', () => {
  for (const [before, after] of inserted)
    it(`is right in ${JSON.stringify(before)}`, () => assert.equal(insertedInto(before), after));

  it('is not needed for a host without a port', () =>
    assert.equal(insertedInto('PGHOST=|\nPGPORT=1', 'db.example.com'), 'PGHOST=db.example.com\nPGPORT=1'));
});
