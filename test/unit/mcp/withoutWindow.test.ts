import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { ownIdentity } from '../../../src/base/processIdentity.ts';
import { formatPostgresLine, LEASE_PROOF_HEADER, leaseProof } from '../../../src/localService/leaseProof.ts';
import { PROJECT_DATA_FOLDER } from '../../../src/localService/ownFolder.ts';
import { callWithoutWindow } from '../../../src/mcp/withoutWindow.ts';
import { temporaryFolder } from '../../helpers/localService.ts';
import { listen } from '../../helpers/listen.ts';

const leaseSecret = 'a-secret-of-both-sides';

describe('Calls without a window', () => {
  it('share one lease, also if the first ones are made at once', async () => {
    let leases = 0;
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '', baseUrl);
      if (url.pathname !== '/lease') return response.end('{"projects":[]}');
      leases += 1;
      const challenge = { secret: leaseSecret, nonce: url.searchParams.get('nonce') ?? '', baseUrl };
      response.writeHead(200, { [LEASE_PROOF_HEADER]: leaseProof('service', challenge) });
      return response.write(`${formatPostgresLine(undefined)}\n`);
    });
    const baseUrl = `http://127.0.0.1:${await listen(server)}/api/v2`;
    const folder = temporaryFolder();
    const dataDir = path.join(folder, PROJECT_DATA_FOLDER);
    mkdirSync(dataDir, { mode: 0o700 });
    const put = (name: string, content: object) =>
      writeFileSync(path.join(dataDir, name), JSON.stringify(content), { mode: 0o600 });
    put('service.lock', ownIdentity());
    put('service.json', { baseUrl, pid: process.pid, leaseSecret });
    const call = { tool: 'listComputes', input: {}, agent: 'Agent', folder };
    const { signal } = new AbortController();
    const results = await Promise.all([callWithoutWindow(call, signal), callWithoutWindow(call, signal)]);
    assert.deepEqual(results, [results[0], results[0]]);
    assert.notEqual(results[0], undefined);
    assert.equal(leases, 1);
  });
});
