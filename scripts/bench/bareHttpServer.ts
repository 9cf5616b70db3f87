// The baseline for the local service: replies to every request with the content of a file. It appends the body of a
// PATCH to another file first and syncs that file.
//   node scripts/bench/bareHttpServer.ts REPLY-FILE STATE-FILE
import { fdatasync, openSync, readFileSync, write } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const [replyFile = '', stateFile = ''] = process.argv.slice(2);
const body = readFileSync(replyFile);
const state = openSync(stateFile, 'a');
const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'content-length': body.length,
};

const server = http.createServer({ noDelay: true }, (request, response) => {
  const reply = () => response.writeHead(200, headers).end(body);
  if (request.method !== 'PATCH') {
    reply();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    write(state, Buffer.concat(chunks), () => fdatasync(state, reply));
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
