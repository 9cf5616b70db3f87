/**
 * TLS on a compute's address, with a driver that checks the certificate.
 * Timers: service/postgres/server/certificate.ts.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { mock } from 'node:test';
import tls from 'node:tls';
import { promisify } from 'node:util';
import pg from 'pg';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { findProgram } from '../../../../../src/base/programs/findProgram.ts';
import { ensureCertificate } from '../../../../../src/service/postgres/server/certificate.ts';
import { withVariables } from '../../../../helpers/withVariables.ts';
import { projectRoot } from '../../../../workbench/folders.ts';
import { connectTo, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { gatewayTo } from './gatewayTo.ts';

describe('TLS of a compute', () => {
  let dataDir: string;
  let service: ControlPlane;
  let compute: ComputeSpec;
  let uri: string;
  before(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), 'tls-test-'));
    service = await startControlPlane({ dataDir });
    compute = await service.create({ poolerEnabled: true });
    uri = await service.uri(compute);
    await query(uri, 'select 1');
  });
  after(async () => {
    await service?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const certificate = () => readFileSync(path.join(service.dataDir, 'postgres/tls/server.crt'), 'utf8');
  /** Like `sslmode=verify-full`. */
  const verified = (): pg.ClientConfig => ({ ssl: { ca: certificate(), servername: 'localhost' } });
  const isEncrypted = async (client: pg.Client) => {
    const { rows } = await client.query<{ ssl: boolean }>(
      'select ssl from pg_stat_ssl where pid = pg_backend_pid()',
    );
    return rows[0]?.ssl;
  };

  it("lets a Node program connect with the command line's connection string, if it trusts the certificate", async () => {
    const script = `const client = new (require('pg').Client)(process.argv[1]);
      client.connect().then(() => client.end());`;
    const run = async (env: NodeJS.ProcessEnv) =>
      promisify(execFile)(
        process.execPath,
        ['-e', script, `${uri}?sslmode=require&channel_binding=require`],
        { cwd: projectRoot, env: { ...process.env, ...env } },
      );
    await run({ NODE_EXTRA_CA_CERTS: path.join(service.dataDir, 'postgres/tls/server.crt') });
    await assert.rejects(run({}), /SELF_SIGNED_CERT/);
  });

  it('leaves the connection of other clients unencrypted', async () => {
    const client = await connectTo(uri);
    assert.equal(await isEncrypted(client), false);
  });

  it('wakes an idle compute, encrypts the connection, and proves the identity of the service', async () => {
    await service.engine.suspend(compute.id);
    const client = await connectTo(uri, verified());
    assert.equal(await isEncrypted(client), true);
  });

  it('offers SCRAM with channel binding, and only with TLS', async () => {
    assert.deepEqual(await offeredMechanisms(uri, { ...verified(), enableChannelBinding: true }), [
      'SCRAM-SHA-256-PLUS',
      'SCRAM-SHA-256',
    ]);
    assert.deepEqual(await offeredMechanisms(uri, {}), ['SCRAM-SHA-256']);
  });

  it('accepts a TLS handshake without an SSL request, if it is for Postgres', async () => {
    for (const pooled of [false, true]) {
      const { port } = new URL(await service.uri(compute, pooled));
      const start = async (ALPNProtocols: string[]) => {
        const socket = tls.connect({
          port: Number(port),
          ca: certificate(),
          servername: 'localhost',
          ALPNProtocols,
        });
        socket.write('\0\0\0\u0025\0\u0003\0\0user\0app_owner\0database\0app\0\0');
        const first = await Promise.race([
          once(socket, 'data'),
          once(socket, 'close').then(() => ['closed']),
        ]).then(
          ([bytes]) => String(bytes),
          () => 'failed',
        );
        socket.destroy();
        return first;
      };
      assert.match(await start(['postgresql']), /^R.*SCRAM-SHA-256/s);
      assert.equal(await start([]), 'closed');
      assert.equal(await start(['http/1.1']), 'failed');
    }
  });

  async function rejectsOtherCertificate(): Promise<void> {
    const other = ensureCertificate(await mkdtemp(path.join(dataDir, 'other-')));
    const secureContext = tls.createSecureContext({
      cert: readFileSync(other.certFile),
      key: readFileSync(other.keyFile),
    });
    const reached: string[] = [];
    const port = await gatewayTo((socket) =>
      socket.once('data', () => {
        socket.write('S');
        const secured = new tls.TLSSocket(socket, { isServer: true, secureContext });
        secured.on('error', () => {}).on('data', (bytes) => reached.push(String(bytes)));
      }),
    );
    await assert.rejects(
      connectTo(`postgresql://someone:secret@127.0.0.1:${port}/app`, { ssl: { rejectUnauthorized: false } }),
      {
        severity: 'FATAL',
        message: /self-signed certificate/,
      },
    );
    assert.deepEqual(reached, []);
  }

  it('does not vouch for a server with another certificate', rejectsOtherCertificate);

  it('does not either if a variable of Node turns the check of certificates off for what is theirs', () =>
    withVariables({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, rejectsOtherCertificate));

  it('sends the reason through TLS if a compute cannot be started', async () => {
    const disabled = await service.create({ disabled: true });
    await assert.rejects(connectTo(await service.uri(disabled), verified()), {
      message: `compute ${disabled.id} is disabled`,
      severity: 'FATAL',
    });
  });

  it('encrypts pooled connections', async function () {
    if (findProgram('pgbouncer') === undefined) return this.skip();
    const client = await connectTo(await service.uri(compute, true), verified());
    assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }]);
  });

  it('starts a compute although another program has taken the port of its server', async () => {
    const pid = path.join(service.dataDir, 'postgres/branches', compute.branchId, 'data/postmaster.pid');
    const port = Number(readFileSync(pid, 'utf8').split('\n')[3]);
    await service.engine.suspend(compute.id);
    const other = net.createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    assert.deepEqual(await query(uri, 'select 1'), [1]);
    other.close();
  });

  it('keeps its certificate, and replaces one that is damaged', async () => {
    const before = certificate();
    const start = async () => {
      await service.close();
      service = await startControlPlane({ dataDir });
      compute = await service.create();
      uri = await service.uri(compute);
      const client = await connectTo(uri, { ssl: { rejectUnauthorized: false } });
      await client.end();
    };
    await start();
    assert.equal(certificate(), before);
    writeFileSync(path.join(service.dataDir, 'postgres/tls/server.key'), 'damaged');
    await start();
    assert.notEqual(certificate(), before);
  });

  it('replaces its certificate at the start on the last day, not before', async () => {
    const root = await mkdtemp(path.join(dataDir, 'other-'));
    const startAt = (now: number) => {
      mock.timers.enable({ apis: ['Date'], now });
      const text = readFileSync(ensureCertificate(root).certFile, 'utf8');
      mock.timers.reset();
      return text;
    };
    const first = startAt(Date.now());
    const lastDay = Date.parse(new X509Certificate(first).validTo) - 86_400_000;
    assert.equal(startAt(lastDay - 1), first);
    assert.notEqual(startAt(lastDay), first);
  });
});

/** What the server offers when a client logs in. */
async function offeredMechanisms(uri: string, options: pg.ClientConfig): Promise<unknown> {
  const client = new pg.Client({ connectionString: uri, ...options });
  client.on('error', () => {});
  const { connection } = client as unknown as { readonly connection: NodeJS.EventEmitter };
  const offer = once(connection, 'authenticationSASL');
  await client.connect();
  await client.end();
  const [{ mechanisms }] = await offer;
  return mechanisms;
}
