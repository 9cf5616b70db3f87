import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { readStartTimeSync, uniqueProcessId } from '../../../src/base/processIdentity.ts';
import { endService } from '../../../src/localService/stop.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

/** Says `ready`, and ends by itself some time after the first signal, as a service that stops its servers does. */
const SLOW_TO_STOP = `
  process.on('SIGTERM', () => setTimeout(() => process.exit(7), 300));
  setInterval(() => undefined, 1000);
  console.log('ready');
`;

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
});
