// The least an HTTP server can do, to measure the local service against: it answers every request with the bytes of
// a file. A PATCH is written to the end of another file and synchronised first, each by itself.
//   node test/bench/bareServer.ts ANSWER-FILE STATE-FILE
import { fdatasync, openSync, readFileSync, write } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

const [answerFile = '', stateFile = ''] = process.argv.slice(2);
const answer = readFileSync(answerFile);
const state = openSync(stateFile, 'a');
const headers = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'content-length': answer.length,
};

const server = http.createServer({ noDelay: true }, (request, response) => {
  const reply = () => response.writeHead(200, headers).end(answer);
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
