/** Timers: npm/library/service.ts. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { request } from 'undici';
import {
  isLeaseProof,
  LEASE_PROOF_HEADER,
  leaseProof,
  newLeaseSecret,
} from '../../../../src/localService/leaseProof.ts';
import type { ControlPlane } from '../../../../src/service/controlPlane/controlPlane.ts';
import { holdLease, Leases } from '../../../../src/service/http/leases.ts';
import { findServiceAddress, findServiceOwner } from '../../../../src/localService/discover.ts';
import { requestEnd, takeLease } from '../../../../src/localService/lease.ts';
import { endService } from '../../../../src/localService/stop.ts';
import { startAttachedService } from '../../../../src/localService/startAttached.ts';
import { builtService } from '../../../helpers/builtService.ts';
import {
  hasReleasedLock,
  startLocalService,
  temporaryFolder,
  type LocalService,
} from '../../../helpers/localService.ts';
import { onPlatform } from '../../../helpers/onPlatform.ts';
import { until } from '../../../workbench/until.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { startInProcess, type InProcess } from '../inProcess.ts';
import { listen } from '../../../helpers/listen.ts';

const MINUTE = 60_000;
/** As windows start the service. */
const GRACE = 75_000;

describe('The program with leases', () => {
  const start = (more: { readonly args?: readonly string[] } = {}): Promise<LocalService> =>
    startLocalService({ postgres: false, ...more });
  /** Holds a lease until the service ends. @returns the status */
  const lease = async (baseUrl: string, key: string) => {
    const { statusCode, body } = await request(new URL('/lease', baseUrl), {
      headers: { authorization: `Bearer ${key}` },
    });
    body.on('error', () => undefined).resume();
    return statusCode;
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
    const clock = new FakeClock();
    let ended = 0;
    const leases = new Leases({ grace: GRACE, clock, onEnd: () => void (ended += 1) });
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

  it('writes nothing to a lease that the end of the service has ended', async () => {
    const postgres = Promise.withResolvers<string | undefined>();
    const plane = { postgresProblem: postgres.promise, keys: { recordUse: () => true } };
    const leases = new Leases({ grace: undefined, clock: new FakeClock(), onEnd: () => undefined });
    const errors: unknown[] = [];
    const server = createServer((request, response) => {
      response.on('error', (error) => errors.push(error));
      holdLease(leases, plane as unknown as ControlPlane, new URLSearchParams(), request, response);
    });
    const { body } = await request(`http://127.0.0.1:${await listen(server)}`, {
      headers: { authorization: 'Bearer key' },
    });
    leases.close();
    postgres.resolve(undefined);
    assert.equal(await body.text(), '');
    assert.deepEqual(errors, []);
  });

  describe('and a clock of the test', () => {
    let test: InProcess;
    let hasEnded: boolean;
    beforeEach(async () => {
      hasEnded = false;
      test = await startInProcess({ endWithLeases: GRACE, onEnd: () => (hasEnded = true) });
    });

    it('ends after its holder was killed', async () => {
      const url = new URL('/lease', test.baseUrl).href;
      const script = `fetch('${url}', { headers: { authorization: 'Bearer ${test.key}' } })
        .then(async (reply) => { console.log(reply.status); for await (const _ of reply.body); })`;
      const holder = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
      const [said] = (await once(holder.stdout, 'data')) as [Buffer];
      assert.equal(said.toString().trim(), '200');
      test.clock.advance(10 * GRACE);
      await setImmediate();
      assert.equal(hasEnded, false);
      holder.kill('SIGKILL');
      await until('the end of the service', async () => {
        test.clock.advance(GRACE);
        return hasEnded;
      });
    });

    it('grants none without a key, and such requests do not keep it running', async () => {
      assert.equal(await lease(test.baseUrl, 'wrong'), 401);
      test.clock.advance(GRACE);
      await setImmediate();
      assert.equal(hasEnded, true);
    });
  });

  describe('with a proof instead of the key', () => {
    const nonce = 'chosen by the window';
    let service: LocalService;
    before(async () => (service = await start()));
    /** Returns the status, and whether the service sent a valid proof. */
    const leaseBy = async (secret: string, at: string = service.baseUrl) => {
      const { baseUrl } = service;
      const url = new URL('/lease', baseUrl);
      const challenge = { secret, nonce, baseUrl: at };
      url.searchParams.set('nonce', nonce);
      url.searchParams.set('proof', leaseProof('window', challenge));
      const { statusCode, headers, body } = await request(url);
      body.on('error', () => undefined).destroy();
      return [statusCode, isLeaseProof('service', challenge, headers[LEASE_PROOF_HEADER])];
    };

    it('grants one and proves that it knows the secret too', async () => {
      assert.deepEqual(await leaseBy(secretOf(service)), [200, true]);
    });

    it('grants none for another secret or for the address of another program', async () => {
      assert.deepEqual(await leaseBy(newLeaseSecret()), [401, false]);
      assert.deepEqual(await leaseBy(secretOf(service), 'http://127.0.0.1:1/api/v2'), [401, false]);
    });

    it('sends no proof to a client with only the key', async () => {
      const { headers, body } = await request(new URL('/lease?nonce=1', service.baseUrl), {
        headers: { authorization: `Bearer ${service.key}` },
      });
      body.on('error', () => undefined).destroy();
      assert.equal(headers[LEASE_PROOF_HEADER], undefined);
    });

    it('ends cleanly for a window that asks, although there are leases', async () => {
      const asked = await start();
      assert.equal(await lease(asked.baseUrl, asked.key), 200);
      const owner = (await findServiceOwner(asked.dataDir)) ?? assert.fail();
      const address = (await findServiceAddress(asked.dataDir, owner)) ?? assert.fail();
      assert.equal(await requestEnd(address), true);
      assert.equal(await asked.ended, 0, asked.stderr());
      assert(hasReleasedLock(asked.dataDir));
    });

    // On Windows, a signal would kill it.
    it('is stopped cleanly on each system', async () => {
      const stopped = await start();
      assert.equal(await endService(stopped.dataDir), true);
      assert.equal(await stopped.ended, 0, stopped.stderr());
      assert(hasReleasedLock(stopped.dataDir));
    });

    it('does not end for the proof of a lease, or of another secret', async () => {
      for (const [purpose, secret] of [
        ['window', secretOf(service)],
        ['end', newLeaseSecret()],
      ] as const) {
        const { baseUrl } = service;
        const url = new URL('/lease', baseUrl);
        url.searchParams.set('nonce', nonce);
        url.searchParams.set('proof', leaseProof(purpose, { secret, nonce, baseUrl }));
        const { statusCode, body } = await request(url, { method: 'DELETE' });
        await body.dump();
        assert.equal(statusCode, 401);
      }
      assert.deepEqual(await leaseBy(secretOf(service)), [200, true]);
    });

    it('has a new secret after each start', async () => {
      const other = await start();
      assert.notEqual(secretOf(other), secretOf(service));
    });
  });

  it('is kept by the program that started it through the pipe, then by a lease, without any time limit', async () => {
    const args = [await builtService(), '--port', '0', '--no-postgres', '--end-with-leases', '0'];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, HOSTED_POSTGRES_SERVICE_API_KEY: 'key' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const ended = once(child, 'close');
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { baseUrl }: { baseUrl: string } = JSON.parse(line);
    const { body } = await request(new URL('/lease', baseUrl), { headers: { authorization: 'Bearer key' } });
    body.on('error', () => undefined).resume();
    child.stdin.end();
    await once(child.stdin, 'close');
    const { statusCode } = await request(`${baseUrl}/projects`, { headers: { authorization: 'Bearer key' } });
    assert.equal(statusCode, 200);
    body.destroy();
    assert.deepEqual(await ended, [0, null]);
  });

  it('is ended cleanly by the program that started it, on Windows by a line, even if leases are open', async () => {
    const args = ['--port', '0', '--no-postgres', '--data-dir', temporaryFolder()];
    const handlers = () => process.listenerCount('SIGTERM');
    const before = handlers();
    const service = await startAttachedService(await builtService(), args, 'key');
    assert(typeof service !== 'number');
    service.leaveSignals();
    assert.equal(handlers(), before);
    await lease(service.baseUrl, 'key');
    let ended: Promise<number> | undefined;
    await onPlatform('win32', () => void (ended = service.stop()));
    // So that another signal doesn't end this program before the service.
    assert.equal(handlers(), before + 1);
    assert.equal(await ended, 0);
    assert.equal(handlers(), before);
  });

  it('reports with the lease why no compute can start', async () => {
    const missing = path.join(temporaryFolder(), 'missing');
    const service = await startLocalService({ args: ['--postgres-path', missing] });
    const lease = await takeLease({ baseUrl: service.baseUrl, leaseSecret: secretOf(service) });
    assert.match((await lease?.postgresProblem) ?? '', /missing/);
  });

  it('ends on a signal even if leases are open', async function () {
    if (process.platform === 'win32') return this.skip(); // It has no signals.
    const service = await start();
    await lease(service.baseUrl, service.key);
    assert.equal(await service.stop(), 0);
  });
});
