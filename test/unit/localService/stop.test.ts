import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { mock } from 'node:test';
import { readStartTimeSync, uniqueProcessId } from '../../../src/base/processIdentity.ts';
import { endService } from '../../../src/localService/stop.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { onPlatform } from '../../helpers/onPlatform.ts';

/** Says `ready`, and ends by itself some time after the first signal, as a service that stops its servers does. */
const SLOW_TO_STOP = `
  process.on('SIGTERM', () => setTimeout(() => process.exit(7), 300));
  setInterval(() => undefined, 1000);
  console.log('ready');
`;

/** Says `ready`, and ends by itself only when there is a file. */
const UNTIL_FILE = `
  process.on('SIGTERM', () => undefined);
  setInterval(() => require('node:fs').existsSync(process.argv[1]) && process.exit(7), 10);
  console.log('ready');
`;

/**
 * Says its port, and ends by itself some milliseconds after a request to end. The answer is the status, or the end of the connection for
 * `ending`. For `starting`, the milliseconds begin at once.
 */
const ASKED = `
  const [reply, milliseconds] = process.argv.slice(1);
  const end = () => setTimeout(() => process.exit(7), Number(milliseconds));
  const server = require('node:http').createServer((request, response) => {
    end();
    if (reply === 'ending') request.socket.destroy();
    else response.writeHead(Number(reply)).end();
  });
  if (reply === 'starting') end();
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;
/** Longer than killing takes, and shorter than a service may take to end. */
const LATE = 8000;

describe('endService', () => {
  it('lets the service stop in its own time', async function () {
    // Windows has no signals: they end the process at once.
    if (process.platform === 'win32') return this.skip();
    const folder = temporaryFolder();
    assert.equal(await endService(folder), false);
    const service = spawn(process.execPath, ['-e', SLOW_TO_STOP], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(service, 'exit');
    await once(service.stdout, 'data');
    const pid = service.pid ?? assert.fail();
    const identity = { pid, startedAt: readStartTimeSync(pid), uniqueId: uniqueProcessId(pid) };
    writeFileSync(path.join(folder, 'service.lock'), JSON.stringify(identity), { mode: 0o600 });
    assert.equal(await endService(folder), true);
    assert.deepEqual(await ended, [7, null]);
  });

  it('gives a service that has noted that it is ending the time to stop its servers', async function () {
    if (process.platform === 'win32') return this.skip();
    const endAfter = async (isEnding: boolean) => {
      const folder = temporaryFolder();
      const file = path.join(folder, 'end');
      const service = spawn(process.execPath, ['-e', UNTIL_FILE, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(service, 'exit');
      await once(service.stdout, 'data');
      const pid = service.pid ?? assert.fail();
      const lock = { pid, startedAt: readStartTimeSync(pid), uniqueId: uniqueProcessId(pid), isEnding };
      writeFileSync(path.join(folder, 'service.lock'), JSON.stringify(lock), { mode: 0o600 });
      let time = 0;
      const { mock: now } = mock.method(performance, 'now', () => {
        time += 500;
        if (time > 15_000) writeFileSync(file, '');
        return time;
      });
      await endService(folder).finally(() => now.restore());
      return ended;
    };
    assert.deepEqual(await endAfter(true), [7, null]);
    assert.deepEqual(await endAfter(false), [null, 'SIGKILL']);
  });

  /** Ends a service as on Windows. @returns the exit code and the signal with which it has ended */
  const endOnWindows = async (reply: string, milliseconds: number) => {
    const folder = temporaryFolder();
    const service = spawn(process.execPath, ['-e', ASKED, reply, String(milliseconds)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(service, 'exit');
    const [port] = (await once(service.stdout, 'data')) as [Buffer];
    const pid = service.pid ?? assert.fail();
    const write = (name: string, content: object) =>
      writeFileSync(path.join(folder, name), JSON.stringify(content), { mode: 0o600 });
    write('service.lock', { pid, startedAt: readStartTimeSync(pid) });
    const baseUrl = `http://127.0.0.1:${String(port).trim()}/api/v2`;
    if (reply !== 'starting') write('service.json', { pid, baseUrl, leaseSecret: 'secret' });
    await onPlatform('win32', async () => assert.equal(await endService(folder), true));
    return ended;
  };

  it('waits on Windows for a service that agrees to end, or is ending', async () => {
    assert.deepEqual(await endOnWindows('202', 300), [7, null]);
    assert.deepEqual(await endOnWindows('ending', 300), [7, null]);
  });

  it('kills at once on Windows what refuses to end or is still starting', async () => {
    assert.deepEqual(await endOnWindows('404', LATE), [null, 'SIGKILL']);
    assert.deepEqual(await endOnWindows('starting', LATE), [null, 'SIGKILL']);
  });
});
