import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { baseUrlOrUndefined } from '../../../src/api/transport/baseUrl.ts';
import {
  isLeaseProof,
  LEASE_PROOF_HEADER,
  leaseKey,
  leaseProof,
  formatPostgresLine,
} from '../../../src/localService/leaseProof.ts';
import { requestStatus, takeLease } from '../../../src/localService/lease.ts';
import { until } from '../../workbench/until.ts';
import { listen } from '../../helpers/listen.ts';

const leaseSecret = 'a-secret-of-both-sides';

describe('The lease of a local service', () => {
  /** Called with the response to a window that has proved itself, once its headers are sent. */
  let hold: (response: ServerResponse) => void;
  /** Called with the response to any other request, with its status. */
  let respond: (response: ServerResponse) => void;
  /** The secret that the service's proof is made with. */
  let servicesSecret: string;
  /** The keys of the leases. */
  let keys: string[];
  /** Requests that are not for a lease, with the key. */
  let tried: string[];
  let refused: number;

  const serve = async () => {
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      const url = new URL(request.url ?? '', baseUrl);
      if (url.pathname !== '/lease') {
        tried.push(`${url.pathname}${url.search} ${request.headers.authorization}`);
        response.writeHead(request.headers.authorization === 'Bearer right' ? 200 : 401);
        return respond(response);
      }
      const nonce = url.searchParams.get('nonce') ?? '';
      if (!isLeaseProof('window', { secret: leaseSecret, nonce, baseUrl }, url.searchParams.get('proof'))) {
        refused += 1;
        return response.writeHead(401).end();
      }
      keys.push(leaseKey({ secret: leaseSecret, nonce, baseUrl }));
      const proof = leaseProof('service', { secret: servicesSecret, nonce, baseUrl });
      response.writeHead(200, { [LEASE_PROOF_HEADER]: proof });
      response.flushHeaders();
      return hold(response);
    };
    const server = createServer(answer);
    const baseUrl = baseUrlOrUndefined(`http://127.0.0.1:${await listen(server)}/api/v2`) ?? assert.fail();
    return { server, address: { baseUrl, leaseSecret } };
  };

  beforeEach(() => {
    servicesSecret = leaseSecret;
    [keys, tried, refused] = [[], [], 0];
    hold = (response) => void response.write(`${formatPostgresLine(undefined)}\n`);
    respond = (response) => void response.end('{}');
  });

  it('is taken with a new proof each time, and has its own key', async () => {
    const { address } = await serve();
    const leases = [await takeLease(address), await takeLease(address)];
    assert.deepEqual(
      leases.map((lease) => lease?.key),
      keys,
    );
    assert.notEqual(keys[0], keys[1]);
    assert.equal(leases[0]?.baseUrl, address.baseUrl);
    assert.equal(await leases[0]?.postgresProblem, undefined);
  });

  it('says why no compute can start', async () => {
    hold = (response) => void response.write(`${formatPostgresLine('Postgres is not installed')}\n`);
    const { address } = await serve();
    const lease = await takeLease(address);
    assert.equal(await lease?.postgresProblem, 'Postgres is not installed');
  });

  for (const [how, end] of [
    ['the service is killed', (response: ServerResponse) => void response.socket?.destroy()],
    ['the service ends', (response: ServerResponse) => void response.end()],
  ] as const)
    it(`says that it has ended if ${how} before it knows whether computes can start`, async () => {
      hold = (response) => void setImmediate(end, response);
      const { address } = await serve();
      const lease = await takeLease(address);
      await assert.rejects(async () => lease?.postgresProblem, /has ended/);
    });

  it('is not taken of a program that lacks the secret, or where none listens', async () => {
    servicesSecret = 'another';
    const { address, server } = await serve();
    const closed: unknown[] = [];
    hold = (response) => void response.once('close', () => closed.push(1));
    assert.equal(await takeLease(address), undefined);
    await until('the connection to close', async () => closed.length === 1);
    assert.equal(await takeLease({ ...address, leaseSecret: 'wrong' }), undefined);
    assert.equal(refused, 1);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    assert.equal(await takeLease(address), undefined);
  });

  it('ends with the service, or when it is released', async () => {
    const responses: ServerResponse[] = [];
    hold = (response) => void responses.push(response);
    const { address } = await serve();
    const [first, second] = [await takeLease(address), await takeLease(address)];
    assert.ok(first && second);
    assert.equal(first.ended.aborted, false);
    responses[0]?.destroy();
    await until('the first lease to end', async () => first.ended.aborted);
    assert.equal(first.ended.reason.code, 'ECONNRESET');
    assert.match(String(first.ended.reason), /The local service has ended/);
    assert.equal(await requestStatus(first, 'right'), undefined);
    assert.equal(second.ended.aborted, false);
    second.release();
    await until('the second lease to end', async () => second.ended.aborted && responses[1]?.destroyed);
  });

  it('lets a key be tried', async () => {
    const { address } = await serve();
    const lease = (await takeLease(address)) ?? assert.fail();
    assert.equal(await requestStatus(lease, 'right'), 200);
    assert.equal(await requestStatus(lease, 'wrong'), 401);
    const target = '/api/v2/projects?limit=1 Bearer';
    assert.deepEqual(tried, [`${target} right`, `${target} wrong`]);
  });

  it('closes the connection with a tried key at once, also if the reply does not end', async () => {
    const closed = Promise.withResolvers<void>();
    respond = (response) => void response.once('close', closed.resolve).write('{');
    const { address } = await serve();
    const lease = (await takeLease(address)) ?? assert.fail();
    assert.equal(await requestStatus(lease, 'right'), 200);
    await closed.promise;
  });

  it('throws if the service is silent, and closes the connection', async () => {
    const [closed, silence] = [Promise.withResolvers<void>(), new AbortController()];
    respond = (response) => {
      response.once('close', closed.resolve);
      silence.abort();
    };
    const { address } = await serve();
    const lease = (await takeLease(address)) ?? assert.fail();
    const timeout = mock.method(AbortSignal, 'timeout', () => silence.signal);
    try {
      const failure = {
        name: 'LocalServiceError',
        reason: 'silent',
        message: 'The local service does not respond',
      };
      await assert.rejects(requestStatus(lease, 'right'), failure);
    } finally {
      timeout.mock.restore();
    }
    await closed.promise;
  });
});
