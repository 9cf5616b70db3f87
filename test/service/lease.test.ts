import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { request } from 'undici';
import { isLeaseProof, LEASE_PROOF_HEADER, leaseProof, newLeaseSecret } from '../../src/api/leaseProof.ts';
import { Leases } from '../../src/service/http/lease.ts';
import { takeLease } from '../../src/api/localServiceLease.ts';
import { GRACE } from '../../src/ui/localService/localServiceProcess.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../helpers/localService.ts';
import { ManualClock } from './inProcess.ts';

const MINUTE = 60_000;

/** Milliseconds. A service that starts on a busy machine must not end before its first client comes. */
const GRACE_OPTION = '10000';

describe('The program with leases', () => {
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

  const secretOf = ({ dataDir }: LocalService): string => {
    const { leaseSecret } = JSON.parse(readFileSync(path.join(dataDir, 'service.json'), 'utf8'));
    return leaseSecret;
  };

  it('ends by itself if no client holds one', async () => {
    const service = await start({ args: ['--end-with-leases', '100'] });
    assert.equal(await service.ended, 0, service.stderr());
  });

  it('survives a reload of the only window that takes a minute, and ends when that window is gone', async () => {
    const clock = new ManualClock();
    let ended = 0;
    const leases = new Leases({ grace: GRACE, clock, onNoneLeft: () => void (ended += 1) });
    const hold = () => leases.hold(() => undefined);
    const pass = async (milliseconds: number) => {
      clock.advance(milliseconds);
      await setImmediate();
      return ended;
    };
    hold()();
    assert.equal(await pass(MINUTE), 0);
    const [one, two] = [hold(), hold()];
    one();
    assert.equal(await pass(60 * MINUTE), 0);
    two();
    assert.equal(await pass(GRACE - 1), 0);
    assert.equal(await pass(1), 1);
  });

  it('ends after its holder was killed', async () => {
    const service = await start({ args: ['--end-with-leases', GRACE_OPTION] });
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

  it('grants none without a key, and such requests do not keep it running', async () => {
    const service = await start({ args: ['--end-with-leases', GRACE_OPTION] });
    const unauthorized = await lease(service, 'wrong');
    assert.equal(unauthorized.statusCode, 401);
    assert.equal(await service.ended, 0);
  });

  describe('with a proof instead of the key', () => {
    const nonce = 'chosen by the window';
    /** Returns the status, and whether the service sent a valid proof. */
    const leaseBy = async ({ baseUrl }: LocalService, secret: string, at: string = baseUrl) => {
      const url = new URL('/lease', baseUrl);
      const challenge = { secret, nonce, baseUrl: at };
      url.searchParams.set('nonce', nonce);
      url.searchParams.set('proof', leaseProof('window', challenge));
      const { statusCode, headers, body } = await request(url);
      body.on('error', () => undefined).destroy();
      return [statusCode, isLeaseProof('service', challenge, headers[LEASE_PROOF_HEADER])];
    };

    it('grants one and proves that it knows the secret too', async () => {
      const service = await start();
      assert.deepEqual(await leaseBy(service, secretOf(service)), [200, true]);
      await service.stop();
    });

    it('grants none for another secret or for the address of another program', async () => {
      const service = await start();
      assert.deepEqual(await leaseBy(service, newLeaseSecret()), [401, false]);
      const other = 'http://127.0.0.1:1/api/v2';
      assert.deepEqual(await leaseBy(service, secretOf(service), other), [401, false]);
      await service.stop();
    });

    it('sends no proof to a client with only the key', async () => {
      const service = await start();
      const { headers, body } = await request(new URL('/lease?nonce=1', service.baseUrl), {
        headers: { authorization: `Bearer ${service.key}` },
      });
      body.on('error', () => undefined).destroy();
      assert.equal(headers[LEASE_PROOF_HEADER], undefined);
      await service.stop();
    });

    it('has a new secret after each start', async () => {
      const [one, two] = [await start(), await start()];
      assert.notEqual(secretOf(one), secretOf(two));
      await Promise.all([one.stop(), two.stop()]);
    });
  });

  it('reports with the lease why no compute can start', async () => {
    const missing = path.join(temporaryFolder(), 'missing');
    const service = await startLocalService({ args: ['--postgres-path', missing] });
    const lease = await takeLease({ baseUrl: service.baseUrl, leaseSecret: secretOf(service) });
    assert.match((await lease?.postgresProblem) ?? '', /missing/);
    await service.stop();
  });

  it('ends on a signal even if leases are open', async () => {
    const service = await start();
    await lease(service);
    assert.equal(await service.stop(), 0);
  });
});
