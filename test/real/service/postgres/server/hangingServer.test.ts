/**
 * Servers that don't start or stop in time. Postgres is a script.
 * Timers: service/postgres/server/postmaster.ts, service/postgres/server/serverProcess.ts,
 * service/postgres/server/launchServer.ts, service/postgres/computeServer.ts, localService/endLimits.ts.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { ComputeSpec } from '../../../../../src/service/core/computeEngine.ts';
import { ComputeServer } from '../../../../../src/service/postgres/computeServer.ts';
import type { ServerDependencies } from '../../../../../src/service/postgres/branchData/branchData.ts';
import { chooseFreeAddress } from '../../../../../src/service/postgres/server/serverAddress.ts';
import { launchServer } from '../../../../../src/service/postgres/server/launchServer.ts';
import { Postmaster } from '../../../../../src/service/postgres/server/postmaster.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { withMockedTimeouts } from '../../../../helpers/mockTimeouts.ts';
import { until } from '../../../../workbench/until.ts';

describe('a Postgres that hangs', () => {
  let signals: () => unknown[];
  before(function () {
    if (process.platform === 'win32') this.skip();
  });
  beforeEach(() => {
    const kill = mock.method(process, 'kill').mock;
    signals = () => kill.calls.map((call) => call.arguments[1]);
  });
  afterEach(() => mock.restoreAll());

  /** @returns once it has written the line to its log */
  async function launch(line: string): Promise<{ readonly starting: Promise<Postmaster> }> {
    const folder = temporaryFolder();
    const postgres = writeScript(
      folder,
      `trap '' INT QUIT; echo '${line}' >&2; while :; do sleep 0.01; done`,
    );
    const { promise: isRunning, resolve: onLine } = Promise.withResolvers<unknown>();
    const binaries = { folder, postgres, initdb: '', major: 18 };
    const address = { host: folder, port: 1 };
    const starting = Postmaster.start({ binaries, dataDir: folder, address, args: [], onLine });
    await isRunning;
    return { starting };
  }

  /** Lets so many milliseconds pass, and one less before. @returns the signals of the last one */
  async function signalsAfter(milliseconds: number): Promise<unknown[]> {
    mock.timers.tick(milliseconds - 1);
    await setImmediate();
    const before = signals().length;
    mock.timers.tick(1);
    await setImmediate();
    return signals().slice(before);
  }

  it('is ended if it does not start within two minutes', () =>
    withMockedTimeouts(async () => {
      const { starting } = await launch('starting');
      const failed = assert.rejects(starting, {
        message: 'Postgres did not accept connections within 120 s',
      });
      assert.deepEqual(await signalsAfter(120_000), ['SIGINT']);
      assert.deepEqual(await signalsAfter(30_000), ['SIGQUIT']);
      assert.deepEqual(await signalsAfter(5000), ['SIGKILL']);
      await failed;
    }));

  it('gets SIGQUIT after 30 s, and SIGKILL after another 5 s', () =>
    withMockedTimeouts(async () => {
      const { starting } = await launch('LOG:  database system is ready to accept connections');
      const server = await starting;
      assert.deepEqual(await signalsAfter(120_000), []);
      const stopped = server.stop();
      assert.deepEqual(await signalsAfter(30_000), ['SIGQUIT']);
      assert.deepEqual(await signalsAfter(5000), ['SIGKILL']);
      await stopped;
      assert.equal(await server.ended, 'was ended by SIGKILL');
    }));
});

describe('a Postgres that ends because processes of a killed one use its shared memory', () => {
  it('is started again and again, for ten seconds', async function () {
    if (process.platform === 'win32') return this.skip();
    const root = temporaryFolder();
    const dataDir = path.join(root, 'data');
    mkdirSync(dataDir);
    const problem = 'FATAL:  lock file "postmaster.pid" already exists';
    const binaries = { postgres: writeScript(root, `echo '${problem}' >&2; exit 1`) };
    const storage = { loopbackPorts: new Map(), socketFolder: () => root };
    const deps = { binaries, storage, certificate: {} } as unknown as ServerDependencies;
    const now = mock.method(performance, 'now', () => 0).mock;
    let starts = 0;
    const onLine = () => void (starts += 1);
    const failed = assert.rejects(launchServer(deps, { compute: SPEC, dataDir, name: SPEC.id, onLine }), {
      name: 'EngineError',
      message: 'lock file "postmaster.pid" already exists',
    });
    await until('a start', async () => starts > 0);
    now.mockImplementation(() => 10_000);
    const before = starts;
    await until('further starts', async () => starts > before + 1);
    now.mockImplementation(() => 10_001);
    await failed;
    now.restore();
  });
});

describe('a compute that does not wake up', () => {
  it('lets its clients wait for a minute', async () => {
    let wakes = 0;
    const events = { wake: async () => void (wakes += 1), activity: () => undefined };
    const deps = { events, certificate: {}, allowedOrigins: [] } as unknown as ConstructorParameters<
      typeof ComputeServer
    >[1];
    const spec = { ...SPEC, address: await chooseFreeAddress() };
    const compute = new ComputeServer(spec, deps);
    await compute.attach(spec);
    const now = mock.method(performance, 'now', () => 0).mock;
    const client = net.connect(spec.address.port, '127.0.0.1');
    client.write('\0\0\0\u0016\0\u0003\0\0user\0someone\0\0');
    await until('an attempt to wake it', async () => wakes > 0);
    now.mockImplementation(() => 60_000);
    const before = wakes;
    await until('further attempts', async () => wakes > before + 2);
    assert.equal(client.bytesRead, 0);
    now.mockImplementation(() => 60_001);
    assert.match(await text(client), /compute ep-1 did not become reachable within 60 s/);
    now.restore();
    await compute.close();
  });
});

const SPEC: ComputeSpec = {
  id: 'ep-1',
  branchId: 'br-1',
  type: 'read_write',
  minCu: 1,
  maxCu: 1,
  pgSettings: {},
  poolerEnabled: false,
  disabled: false,
  address: { port: 1, poolerPort: 2 },
};

/** @returns the path of a program for the shell */
function writeScript(folder: string, commands: string): string {
  const program = path.join(folder, 'postgres');
  writeFileSync(program, `#!/bin/sh\n${commands}\n`, { mode: 0o700 });
  return program;
}
