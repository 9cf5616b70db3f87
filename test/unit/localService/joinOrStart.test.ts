import assert from 'node:assert/strict';
import { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { ownIdentity } from '../../../src/base/processIdentity.ts';
import { joinOrStartService } from '../../../src/localService/joinOrStart.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { withMockedTimeouts } from '../../helpers/mockTimeouts.ts';

describe('The process of the local service', () => {
  it('gets the folders of Postgres and of its extensions, or else looks for extensions', async () => {
    const dataDir = temporaryFolder();
    const script = path.join(dataDir, 'service.mjs');
    writeFileSync(script, 'console.error(process.argv.slice(8).join(" ")); process.exit(1);');
    const options = { script, dataDir, key: 'key', port: 0 };
    await assert.rejects(joinOrStartService({ ...options, postgresPath: undefined }), {
      message: `75000 --installed-extensions`,
    });
    await assert.rejects(joinOrStartService({ ...options, postgresPath: '/bin', extensionsPath: '/more' }), {
      message: `75000 --postgres-path ${path.resolve('/bin')} --extensions-dir ${path.resolve('/more')}`,
    });
    const trustedExtensions = ['postgis', 'ip4r'];
    await assert.rejects(joinOrStartService({ ...options, postgresPath: undefined, trustedExtensions }), {
      message: `75000 --installed-extensions --trust-extension=postgis --trust-extension=ip4r`,
    });
    // The service starts in another folder.
    await assert.rejects(joinOrStartService({ ...options, postgresPath: 'bin', extensionsPath: '../more' }), {
      message: `75000 --postgres-path ${path.resolve('bin')} --extensions-dir ${path.resolve('../more')}`,
    });
  });

  const options = { script: 'service.mjs', key: 'key', port: 0, postgresPath: undefined };

  it("says why its data directory can't be used", async () => {
    const file = path.join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    await assert.rejects(joinOrStartService({ ...options, dataDir: path.join(file, 'data') }), {
      message: /^Cannot use the data directory .*data: .*file is a file\. Choose another folder\.$/,
    });
  });

  it('names a folder whose name Windows does not allow', async function () {
    if (process.platform !== 'win32') return this.skip();
    const folder = temporaryFolder();
    for (const names of [['a"b'], ['new', 'a"b', 'data']])
      await assert.rejects(joinOrStartService({ ...options, dataDir: path.join(folder, ...names) }), {
        message:
          /^Cannot use the data directory .+: Windows allows no folder with the name a"b\. Choose another one\.$/,
      });
  });

  it('is ended if it does not start within a minute', () =>
    withMockedTimeouts(async () => {
      const dataDir = temporaryFolder();
      const script = path.join(dataDir, 'service.mjs');
      writeFileSync(script, 'console.error("starting"); setInterval(() => {}, 1000);');
      const failed = assert.rejects(
        joinOrStartService({ script, dataDir, key: 'key', port: 0, postgresPath: undefined }),
        { message: 'starting' },
      );
      const log = path.join(dataDir, 'service.log');
      while (!existsSync(log) || statSync(log).size === 0) await setImmediate();
      const kill = mock.method(ChildProcess.prototype, 'kill').mock;
      mock.timers.tick(59_999);
      assert.equal(kill.callCount(), 0);
      mock.timers.tick(1);
      await failed;
      kill.restore();
    }));

  it('is not started while another one has the lock and is still starting', async () => {
    const dataDir = temporaryFolder();
    const script = path.join(dataDir, 'service.mjs');
    writeFileSync(script, 'console.error("started"); process.exit(3);');
    writeFileSync(path.join(dataDir, 'service.lock'), JSON.stringify(ownIdentity()), { mode: 0o600 });
    // Each look takes a third of the time for which a service may start.
    let time = 0;
    const now = mock.method(performance, 'now', () => (time += 20_000)).mock;
    const joined = joinOrStartService({ ...options, script, dataDir }).finally(() => now.restore());
    await assert.rejects(joined, { reason: 'silent' });
    // Only the process whose message is the reason was started.
    assert.equal(readFileSync(path.join(dataDir, 'service.log'), 'utf8'), 'started\n');
  });
});
