import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import type pg from 'pg';
import { Gateway } from '../../../../../src/service/postgres/network/gateway.ts';
import { message } from '../../../../helpers/postgresConversation.ts';
import { connectTo, eventually, query } from '../clients.ts';
import { startControlPlane, type ControlPlane } from '../controlPlane.ts';
import { gatewayTo } from './gatewayTo.ts';
import { listen } from '../../../../helpers/listen.ts';

const HOUR = 3_600_000;
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const GSS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 48]);

describe('gateway', () => {
  let service: ControlPlane;
  before(async () => (service = await startControlPlane()));
  // The tests share one branch, because creating one takes time.
  afterEach(async () => {
    for (const id of service.computes.keys()) await service.engine.remove(id);
    service.computes.clear();
    service.woken.length = 0;
  });

  it('wakes a compute once for fifty simultaneous clients', async () => {
    const compute = await service.create();
    const uri = await service.uri(compute);
    const answers = await Promise.all(Array.from({ length: 50 }, async () => query(uri, 'select 1')));
    assert.equal(answers.flat().length, 50);
    assert.deepEqual(service.woken, [compute.id]);
  });

  it('lets clients that connect during a restart wait for its end', async () => {
    const compute = await service.create();
    const uri = await service.uri(compute);
    const connected = await connectTo(uri);
    const dropped = new Promise((resolve) => connected.once('end', resolve));
    const change = service.change(compute, { minCu: 1, maxCu: 1 });
    await dropped;
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => query(uri, 'show max_connections')),
    );
    assert.deepEqual(new Set(answers.flat()), new Set(['450']));
    assert.deepEqual(service.woken, [compute.id]);
    await change;
  });

  it('counts client connections as activity, from the first packet to the end', async () => {
    const compute = await service.create();
    const bare = net.connect(compute.address.port, '127.0.0.1');
    await once(bare, 'connect');
    const clients = [
      await connectTo(await service.uri(compute)),
      await connectTo(await service.uri(compute)),
    ];
    await eventually(() => service.open.get(compute.id) === 2);
    await Promise.all(clients.map(async (client) => client.end()));
    await eventually(() => service.open.get(compute.id) === 0);
    bare.destroy();
  });

  it('declines GSS encryption, and continues without', async () => {
    const compute = await service.create();
    const socket = net.connect(compute.address.port, '127.0.0.1');
    for (const _ of [1, 2]) {
      socket.write(GSS_REQUEST);
      const [answer] = await once(socket, 'data');
      assert.equal(String(answer), 'N');
    }
    socket.destroy();
    assert.deepEqual(service.woken, []);
  });

  it('loads what serves HTTP again if that has failed', async () => {
    const failures = [new Error('too many open files')];
    const port = await gatewayTo(
      () => undefined,
      () => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      },
    );
    const request = async () => fetch(`http://127.0.0.1:${port}/`).then(({ status }) => status);
    await assert.rejects(request(), TypeError);
    assert.equal(await request(), 404);
  });

  it('closes connections of other protocols without waking the compute', async () => {
    const compute = await service.create();
    for (const bytes of [
      'GET / HTTP/1.1\r\n\r\n',
      '\u0016\u0003\u0001',
      Buffer.alloc(8),
      Buffer.concat([SSL_REQUEST, SSL_REQUEST]),
    ]) {
      const socket = net.connect(compute.address.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.end(bytes);
      await once(socket.resume(), 'close');
    }
    assert.deepEqual(service.woken, []);
    assert.equal(service.open.get(compute.id) ?? 0, 0);
  });

  it('forwards a cancel request', async () => {
    const compute = await service.create();
    const uri = await service.uri(compute);
    const client = await connectTo(uri);
    const long = assert.rejects(client.query('select pg_sleep(600)'), { code: '57014' });
    const watcher = await connectTo(uri);
    await eventually(async () => {
      const { rows } = await watcher.query(
        "select 1 from pg_stat_activity where query like '%pg_sleep(600)' and state = 'active' and pid <> pg_backend_pid()",
      );
      return rows.length === 1;
    });
    // node-postgres knows the key of its backend and sends the request as libpq does.
    const canceller = net.connect(compute.address.port, '127.0.0.1');
    canceller.end(cancelRequest(client));
    await once(canceller.resume(), 'close');
    await long;
    await Promise.all([client.end(), watcher.end()]);
  });

  for (const [how, ssl, leave] of [
    ['closes its connection', false, (stream) => stream.destroy()],
    ['resets its connection', false, (stream) => stream.resetAndDestroy()],
    ['closes its connection with TLS', { rejectUnauthorized: false }, (stream) => stream.destroy()],
  ] satisfies [string, pg.ClientConfig['ssl'], (stream: net.Socket) => void][])
    it(`ends the statements of a client that ${how}`, async () => {
      const uri = await service.uri(await service.create());
      const client = await connectTo(uri, { ssl });
      const sleep = 'select pg_sleep(600)';
      const lost = assert.rejects(client.query(sleep));
      const sessions = `select count(*)::int from pg_stat_activity where query = '${sleep}'`;
      await eventually(async () => (await query(uri, sessions))[0] === 1);
      const { stream } = client.connection;
      assert.ok(stream instanceof net.Socket);
      // Postgres runs it after the first one.
      stream.write(message('Q', `${sleep}\0`));
      leave(stream);
      await eventually(async () => (await query(uri, sessions))[0] === 0);
      await lost;
    });

  it('rejects connections to a disabled compute with a message', async () => {
    const compute = await service.create({ disabled: true });
    await assert.rejects(query(await service.uri(compute), 'select 1'), /compute ep-\d+ is disabled/);
    assert.deepEqual(service.woken, []);
  });

  it('sends the reason if a compute cannot be started', async () => {
    const compute = await service.create();
    const uri = await service.uri(compute);
    service.computes.delete(compute.id);
    await assert.rejects(query(uri, 'select 1'), { message: `no compute ${compute.id}`, severity: 'FATAL' });
  });

  it('moves the address with the compute to another branch', async () => {
    const there = await service.create({ branchId: 'br-there' });
    await query(await service.uri(there), 'create table only_there as select 5 as id');
    await service.engine.remove(there.id);
    let compute = await service.create();
    await query(await service.uri(compute), 'select 1');
    compute = await service.change(compute, { branchId: 'br-there' });
    assert.deepEqual(await query(await service.uri(compute), 'select id from only_there'), [5]);
  });

  it('reports that a port is in use', async () => {
    const port = await listen(net.createServer());
    const address = { port, poolerPort: port };
    await assert.rejects(service.create({ address }), /Port \d+ .* another program uses it/);
  });

  describe('while the clock changes', () => {
    const { now } = Date;
    /** Moves the clock at each reading. */
    const setClockBy = (milliseconds: number) => {
      let reads = 0;
      Date.now = () => now() + (reads += 1) * milliseconds;
    };
    afterEach(() => {
      Date.now = now;
    });

    it('wakes a compute for a client', async () => {
      const uri = await service.uri(await service.create());
      setClockBy(HOUR);
      assert.deepEqual(await query(uri, 'select 1'), [1]);
    });

    it('stops waiting for a port that stays in use', async () => {
      const port = await listen(net.createServer());
      const target = {
        ensureRunning: async () => Promise.reject(new Error('no server')),
        running: () => undefined,
        certificate: { certFile: '', keyFile: '' },
        serveHttp: async () => () => {},
        activity: () => {},
        connect: () => {},
      };
      setClockBy(-HOUR);
      await assert.rejects(Gateway.listen(port, target), /another program uses it/);
    });
  });

  it('closes although a client does not read what it asked for', async () => {
    const compute = await service.create();
    const uri = await service.uri(compute);
    const client = await connectTo(uri);
    const { stream } = client.connection;
    const received = once(stream, 'data');
    const asked = client.query("select repeat('x', 100000) from generate_series(1, 1000)");
    asked.catch(() => undefined);
    await received;
    stream.pause();
    const stuck = "select count(*)::int from pg_stat_activity where wait_event = 'ClientWrite'";
    await eventually(async () => (await query(uri, stuck))[0] === 1);
    await service.engine.remove(compute.id);
    service.computes.delete(compute.id);
    stream.destroy();
  });

  it('frees its port when the compute is removed', async () => {
    const compute = await service.create();
    await query(await service.uri(compute), 'select 1');
    await service.engine.remove(compute.id);
    await assert.rejects(query(await service.uri(compute), 'select 1'), { code: 'ECONNREFUSED' });
    await service.engine.remove(compute.id);
  });
});

function cancelRequest(client: object): Buffer {
  assert.ok('processID' in client && 'secretKey' in client);
  const packet = Buffer.alloc(16);
  packet.writeInt32BE(16, 0);
  packet.writeInt32BE(80877102, 4);
  packet.writeInt32BE(Number(client.processID), 8);
  packet.writeInt32BE(Number(client.secretKey), 12);
  return packet;
}
