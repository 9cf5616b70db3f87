#!/bin/sh
# After pgDump of PGlite 0.5.8 (pglite-tools 0.4.8) the database is in a read-only transaction, and its settings are pg_dump's.
# Guess: a dump only reads, as it does with a server, where pg_dump has a session of its own that ends with it. Behaviour: PGlite's only
# session is in the transaction that pg_dump has begun and, as it would disconnect, hasn't ended: the next INSERT fails. After ROLLBACK,
# row_security is off, extra_float_digits, IntervalStyle and DateStyle are pg_dump's, and the application's statement_timeout is 0; only
# search_path is put back, and the rollback takes that back as well: it is empty.
# Needs Node 20 or newer and npm. Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . @electric-sql/pglite@0.5.8 @electric-sql/pglite-tools@0.4.8 >/dev/null
cat >check.mjs <<'SCRIPT'
import { PGlite } from '@electric-sql/pglite';
import { pgDump } from '@electric-sql/pglite-tools/pg_dump';

const NAMES = ['search_path', 'row_security', 'IntervalStyle', 'statement_timeout'];
const lite = await PGlite.create();
const read = async () => {
  const { rows } = await lite.query('select name, current_setting(name) as value from unnest($1::text[]) name', [NAMES]);
  return rows.map(({ value }) => value || '(empty)').join(' ');
};

await lite.exec("create table item (id int); set statement_timeout = '5s'; set IntervalStyle = 'iso_8601'");
const before = await read();
await pgDump({ pg: lite });
const inserted = await lite.exec('insert into public.item values (1)').then(
  () => 'inserted',
  ({ message }) => message,
);
await lite.exec('rollback');
const after = await read();
console.log(`Guess: inserted; ${before}`);
console.log(`Seen:  ${inserted}; ${after}`);
const isSame = before === 'public on iso_8601 5s' && inserted === 'cannot execute INSERT in a read-only transaction';
process.exit(isSame && after === '(empty) off postgres 0' ? 0 : 1);
SCRIPT
timeout 300 node check.mjs
