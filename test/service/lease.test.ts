import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'undici';
import { startLocalService, type LocalService } from '../helpers/localService.ts';

describe('The program with leases', function () {
  this.timeout(30_000);
  const start = (more: { readonly args?: readonly string[] } = {}): Promise<LocalService> =>
    startLocalService({ postgres: false, ...more });
  const lease = async (service: LocalService, key = service.key) => {
    const abort = new AbortController();
    const url = new URL('/lease', service.baseUrl);
    const { statusCode, body } = await request(url, {
      headers: { authorization: `Bearer ${key}` },
      signal: abort.signal,
    });
    body.on('error', () => undefined).resume();
    return { statusCode, release: () => abort.abort() };
  };
  const isRunning = (service: LocalService) =>
    Promise.race([service.ended.then(() => false), new Promise((resolve) => setTimeout(resolve, 0, true))]);

  it('ends by itself when nobody takes one', async () => {
    const service = await start({ args: ['--end-with-leases', '100'] });
    assert.equal(await service.ended, 0);
  });

  it('lives as long as one is held, and ends soon after the last', async () => {
    const service = await start({ args: ['--end-with-leases', '1000'] });
    const [one, two] = [await lease(service), await lease(service)];
    one.release();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(await isRunning(service), true);
    const released = performance.now();
    two.release();
    assert.equal(await service.ended, 0);
    const took = performance.now() - released;
    assert(took >= 990 && took < 2_900, String(took));
  });

  it('ends although its holder was killed', async () => {
    const service = await start({ args: ['--end-with-leases', '1000'] });
    const ours = await lease(service);
    const script = `fetch('${new URL('/lease', service.baseUrl).href}', { headers: { authorization: 'Bearer ${service.key}' } })
      .then(async (reply) => { console.log(reply.status); for await (const _ of reply.body); })`;
    const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [said] = (await once(holder.stdout, 'data')) as [Buffer];
    assert.equal(said.toString().trim(), '200');
    ours.release();
    holder.kill('SIGKILL');
    assert.equal(await service.ended, 0);
  });

  it('gives none without a key, and does not count those who ask', async () => {
    const service = await start({ args: ['--end-with-leases', '1000'] });
    const refused = await lease(service, 'wrong');
    assert.equal(refused.statusCode, 401);
    assert.equal(await service.ended, 0);
  });

  it('ends with open leases when asked to', async () => {
    const service = await start();
    await lease(service);
    const began = performance.now();
    assert.equal(await service.stop(), 0);
    assert(performance.now() - began < 1_900);
  });
});
