import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LEASE_PROOF_HEADER, leaseProof } from '../../../../src/api/leaseProof.ts';
import { parseBaseUrl } from '../../../../src/api/baseUrl.ts';
import { takeLease } from '../../../../src/ui/localService/localServiceLease.ts';

const leaseSecret = 'secret';

describe('takeLease', () => {
  let sendLines: (response: ServerResponse) => void;
  const server = createServer((request, response) => {
    const baseUrl = address();
    const nonce = new URL(request.url ?? '', baseUrl).searchParams.get('nonce') ?? '';
    const proof = leaseProof('service', { secret: leaseSecret, nonce, baseUrl });
    response.writeHead(200, { [LEASE_PROOF_HEADER]: proof });
    sendLines(response);
  });
  const address = () => {
    const { port } = server.address() as AddressInfo;
    const baseUrl = parseBaseUrl(`http://127.0.0.1:${port}/api/v2`);
    assert(typeof baseUrl === 'string');
    return baseUrl;
  };
  before(async () => once(server.listen(0, '127.0.0.1'), 'listening'));
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const take = async () => {
    const lease = await takeLease({ baseUrl: address(), leaseSecret });
    assert(lease !== undefined);
    return lease;
  };

  it('reports no problem from a broken line', async () => {
    sendLines = (response) => response.write('{"problem\n');
    const lease = await take();
    await assert.rejects(lease.postgresProblem, SyntaxError);
    lease.release();
  });
});
