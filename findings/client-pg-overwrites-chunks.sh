#!/bin/sh
# pg 8.23.1 (pg-protocol) writes into a chunk that its socket has already given to all listeners.
# Guess: what a listener of "data" has kept, as a logger or a proxy does, stays as it was. Behaviour: if a chunk ends inside of a
# message, pg keeps the chunk as its buffer, and moves the beginning of the message to the chunk's start when the next one comes. So
# the first bytes that were kept, here of DataRow, are now of another message. It depends on where the network cuts messages.
# Needs Node 20 or newer and npm. Exits with 1 if the behaviour has changed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . pg@8.23.1 >/dev/null
cat >check.cjs <<'SCRIPT'
const { once } = require('node:events');
const net = require('node:net');
const { Client } = require('pg');

const message = (type, ...parts) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const READY = message('Z', 'I');
const ROW = message('D', [0, 1, 0, 0, 0, 20], 'all of this was read');

// Answers as Postgres does, in two packets, of which the first ends one byte before the end of the last message.
const server = net.createServer((socket) => {
  socket.setNoDelay();
  socket.once('data', () => {
    socket.write(Buffer.concat([message('R', [0, 0, 0, 0]), READY]));
    socket.once('data', () => {
      const answer = Buffer.concat([message('T', [0, 1], 'text\0', Buffer.alloc(6), [0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0])]);
      socket.write(answer);
      const last = Buffer.concat([ROW, message('C', 'SELECT 1\0'), READY]);
      setTimeout(() => socket.write(last.subarray(0, -1)), 100);
      setTimeout(() => socket.write(last.subarray(-1)), 200);
    });
  });
});

async function main() {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new Client({ host: '127.0.0.1', port: server.address().port, user: 'x', database: 'x', ssl: false });
  await client.connect();
  const kept = [];
  client.connection.stream.on('data', (chunk) => kept.push(chunk));
  const { rows } = await client.query('select text');
  const row = kept[1].toString('latin1', 0, ROW.length);
  console.log(`pg ${require('pg/package.json').version}, row for the caller: ${JSON.stringify(rows)}`);
  console.log(`Guess: kept ${JSON.stringify(ROW.toString('latin1'))}`);
  console.log(`Seen:  kept ${JSON.stringify(row)}`);
  process.exit(row !== ROW.toString('latin1') && row.startsWith(READY.toString('latin1')) ? 0 : 1);
}
main();
SCRIPT
timeout 60 node check.cjs
