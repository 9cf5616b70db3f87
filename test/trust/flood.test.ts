/** Clients that send far more than they read, and what they cost the service and everyone else. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectsFile } from '../bench/sampleAccount.ts';
import { call } from '../helpers/call.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../helpers/localService.ts';
import { tell } from './tally.ts';

/** Their list is about 100 KB. */
const PROJECTS = 200;
const CLIENTS = 20;
const REQUESTS = 10_000;
/** Mebibytes. Without a bound the flood below takes about 3,000. */
const MOST_GROWTH = 300;
/** Milliseconds. The replies to the flood would take minutes; a busy machine takes seconds for one request. */
const MAX_WAIT = 15_000;

describe('A flood of pipelined requests', () => {
  let service: LocalService;
  before(async () => {
    const projects = path.join(temporaryFolder(), 'projects.json');
    writeFileSync(projects, projectsFile({ projects: PROJECTS, computesPerProject: 1 }));
    service = await startLocalService({ postgres: false, args: ['--projects', projects] });
  });
  after(() => service.stop());

  const connect = () => net.connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
  const request = (more = '') =>
    `GET /api/v2/projects HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.key}\r\n${more}\r\n`;
  const mebibytes = async (): Promise<number> => {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(service.pid)]);
    return Math.round(Number(stdout) / 1024);
  };
  const timedRequest = async (): Promise<number> => {
    const start = performance.now();
    assert.equal((await call(service.baseUrl, { path: '/projects', key: service.key })).status, 200);
    return Math.round(performance.now() - start);
  };

  it('takes no more memory than its connections need, and does not delay other clients', async function () {
    if (process.platform === 'win32') this.skip();
    await timedRequest();
    const before = await mebibytes();
    const text = request().replace('/projects', '/projects?limit=400').repeat(REQUESTS);
    const clients = Array.from({ length: CLIENTS }, connect);
    try {
      await Promise.all(clients.map((client) => once(client, 'connect')));
      for (const client of clients) client.pause().write(text);
      let [slowest, most] = [0, before];
      for (let times = 0; times < 100; times += 1) {
        slowest = Math.max(slowest, await timedRequest());
        if (times % 10 === 9) most = Math.max(most, await mebibytes());
      }
      tell('MiB before the flood', before);
      tell('MiB at most during the flood', most);
      tell('milliseconds that another client waited at most', slowest);
      assert.ok(most - before <= MOST_GROWTH, `from ${before} to ${most} MiB`);
      assert.ok(slowest <= MAX_WAIT, `${slowest} ms`);
    } finally {
      for (const client of clients) client.destroy();
    }
  });

  it('is answered completely and in order when the answers are read', async () => {
    const ids = Array.from({ length: REQUESTS }, (_, index) => `request-${index}`);
    const unknown = ids.map((id) => request(`X-Request-ID: ${id}\r\n`).replace('/projects', '/nothing'));
    const socket = connect();
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.end(unknown.join(''));
    await once(socket, 'close');
    const answered = Buffer.concat(parts)
      .toString()
      .match(/(?<="request_id":")request-\d+/g);
    assert.deepEqual(answered, ids);
  });
});
