/**
 * Injects each fault between the client and the real local service, and checks what the caller gets: the kind of error,
 * the number of attempts, and whether a change may have been made anyway. Then the next call must succeed.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import tls from 'node:tls';
import type { BaseUrl } from '../../../../src/api/transport/baseUrl.ts';
import { Client } from '../../../../src/api/client.ts';
import { ApiError } from '../../../../src/api/transport/errors.ts';
import type { HttpOptions, PendingRetry } from '../../../../src/api/transport/http.ts';
import { FaultProxy } from '../../../helpers/faultProxy.ts';
import { FAULTY_ADDRESSES, testAuthority } from '../../../helpers/faultProxyAddresses.ts';
import { FAULTS } from '../../../helpers/faultProxyFaults.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { ADDRESS_ROWS, ROWS, shortTimes, type Call, type Outcome } from './networkRows.ts';

const KEY = 'a-key-that-must-stay-secret';

describe('Client on a bad network', () => {
  let service: LocalService;
  let projectId: string;
  let branchId: string;

  before(async () => {
    service = await startLocalService({ postgres: false, key: KEY });
    for await (const page of service.client.projectPages()) projectId = page.items[0]?.id ?? '';
    branchId = (await service.client.listComputes(projectId)).items[0]?.branch_id ?? '';
  });

  const clientAt = (baseUrl: BaseUrl, options: Partial<HttpOptions> = {}) =>
    new Client({ baseUrl, key: KEY, fetch: globalThis.fetch, retries: 2, maxDelay: 20, ...options });
  const send = (client: Client, call: Call, signal?: AbortSignal, onRetry?: (retry: PendingRetry) => void) =>
    call === 'read'
      ? client.listComputes(projectId, { signal, onRetry })
      : client.createCompute(projectId, { branch_id: branchId, type: 'read_only' }, { signal, onRetry });
  const computes = async () => (await service.client.listComputes(projectId)).items.length;
  const startProxy = () => FaultProxy.start({ upstream: service.baseUrl });

  for (const row of ROWS) {
    const { fault, call, times, expected, attempts, made = expected === 'answer' } = row;
    const end = expected === 'answer' ? 'succeeds' : `fails with ${Object.values(expected).join(' ')}`;
    const often = times === 1 ? 'once' : 'always';
    const result = row.mayHaveExecuted ? ', may have executed' : ', did not execute';
    const suffix = call === 'change' && expected !== 'answer' ? result : '';
    it(`${fault} ${often}: a ${call} ${end} after ${attempts} attempts${suffix}`, async () => {
      const proxy = await startProxy();
      const method = call === 'read' ? 'GET' : 'POST';
      const client = clientAt(proxy.baseUrl, row.options);
      const before = await computes();
      proxy.inject(fault, row.primed === true ? { times } : { method, times });
      if (row.primed === true) await client.listComputes(projectId);
      // Only an idle connection is used again.
      await new Promise(setImmediate);
      const primed = proxy.count(method);
      const { signal } = new AbortController();
      const outcome = await send(client, call, signal).catch(caught);
      assert.equal(proxy.count(method) - primed, attempts);
      assert.deepEqual(getEventListeners(signal, 'abort'), []);
      expectOutcome(outcome, expected, row.mayHaveExecuted);
      if (call === 'change') assert.equal((await computes()) - before, made ? 1 : 0);
      assert.deepEqual(proxy.strayed, []);
      proxy.clear();
      // The short limits of some rows are too short for a busy machine.
      const next = row.options?.limits === undefined ? client : clientAt(proxy.baseUrl);
      await next.listComputes(projectId);
      await send(next, call);
    });
  }

  for (const { address, code, retries, mayHaveExecuted = false } of ADDRESS_ROWS) {
    const result = mayHaveExecuted ? 'may have executed' : 'did not execute';
    it(`${address}: a change fails after ${retries} retries, ${result}`, async () => {
      const trusted = tls.getCACertificates('default');
      tls.setDefaultCACertificates([...trusted, testAuthority.cert]);
      const baseUrl = await FAULTY_ADDRESSES[address]();
      try {
        const waits: PendingRetry[] = [];
        const error = await send(clientAt(baseUrl), 'change', undefined, (wait) => waits.push(wait)).catch(
          caught,
        );
        expectOutcome(error, { kind: 'network' }, mayHaveExecuted);
        assert.match(String(((error as ApiError).fault as { code?: string }).code), code);
        assert.equal(waits.length, retries);
      } finally {
        tls.setDefaultCACertificates(trusted);
      }
    });
  }

  it('gives up on a handshake that never ends', async () => {
    const baseUrl = await FAULTY_ADDRESSES.silentHandshake();
    const error = await send(clientAt(baseUrl, shortTimes), 'read').catch(caught);
    expectOutcome(error, { kind: 'timeout' }, false);
  });

  for (const fault of ['noAnswerAfter', 'slowDrip'] as const) {
    it(`reports a change that is canceled during ${fault} as one that may have executed`, async () => {
      const proxy = await startProxy();
      const giveUp = new AbortController();
      proxy.inject(fault, { method: 'POST' });
      const sent = send(clientAt(proxy.baseUrl), 'change', giveUp.signal).catch(caught);
      while (proxy.count('POST') === 0) await new Promise(setImmediate);
      giveUp.abort();
      expectOutcome(await sent, { kind: 'cancelled' }, true);
    });
  }

  it('has a row for each fault', () => {
    const named = new Set<string>(ROWS.map(({ fault }) => fault));
    assert.deepEqual(
      Object.keys(FAULTS).filter((name) => !named.has(name)),
      [],
    );
    const addressed = new Set<string>([...ADDRESS_ROWS.map(({ address }) => address), 'silentHandshake']);
    assert.deepEqual(
      Object.keys(FAULTY_ADDRESSES).filter((name) => !addressed.has(name)),
      [],
    );
  });
});

const caught = (error: unknown): unknown => error;

function expectOutcome(outcome: unknown, expected: Outcome, mayHaveExecuted: boolean): void {
  if (expected === 'answer') {
    if (outcome instanceof Error) throw outcome;
    return;
  }
  assert.ok(outcome instanceof ApiError, String(outcome));
  for (const [name, value] of Object.entries(expected))
    assert.equal(Reflect.get(outcome.fault, name), value, outcome.message);
  assert.equal(outcome.mayHaveExecuted, mayHaveExecuted, outcome.message);
  assert.ok(!`${outcome.message}${JSON.stringify(outcome)}${outcome.stack ?? ''}`.includes(KEY));
}
