import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import path from 'node:path';
import { call } from '../../../helpers/call.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import {
  computeOf,
  events,
  FaultyEngine,
  operationsOf,
  settled,
  START_TIME,
  startInProcess,
  useInProcess,
  type InProcess,
} from '../inProcess.ts';
import { PROJECT } from './sampleProject.ts';

const ACTIVE = 'ep-little-smoke-851426';
const IDLE = 'ep-steep-forest-654321';

const ACCOUNT = 'account.json';
const minutes = (count: number) => count * 60_000;

describe('A connection to an idle compute', () => {
  let test: InProcess;
  const started = useInProcess();
  beforeEach(async () => {
    test = started();
    await settled(test, ACTIVE, 'active');
  });

  it('starts it and records that', async () => {
    await events(test).wake(IDLE);
    const compute = await computeOf(test, IDLE);
    assert.equal(compute.current_state, 'active');
    const [last] = await operationsOf(test);
    assert.deepEqual([last?.action, last?.status, last?.endpoint_id], ['start_compute', 'finished', IDLE]);
  });

  it('starts it only once together with others', async () => {
    test.engine.calls.length = 0;
    await Promise.all(Array.from({ length: 20 }, () => events(test).wake(IDLE)));
    assert.equal(test.engine.calls.filter((each) => each === `start ${IDLE}`).length, 1);
  });

  it('starts nothing while the service is stopping', async () => {
    const { close } = test.engine;
    let reason: unknown;
    test.engine.close = async () => {
      await events(test)
        .wake(IDLE)
        .catch((error: unknown) => (reason = error));
      await close();
    };
    await test.stop();
    assert.match(String(reason), /The service is stopping/);
  });

  it('waits for the end of a restart', async () => {
    const restart = test.client.restartCompute(PROJECT, ACTIVE);
    await until('the restart', async () => test.engine.calls.includes(`suspend ${ACTIVE}`));
    await events(test).wake(ACTIVE);
    await restart;
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
  });

  it('starts it again if its record says active but it is not running', async () => {
    test.engine.calls.length = 0;
    await events(test).wake(ACTIVE);
    assert(test.engine.calls.includes(`start ${ACTIVE}`));
  });

  it('gets a message if it is disabled, deleted or does not start', async () => {
    await test.client.updateCompute(PROJECT, IDLE, { disabled: true });
    await settled(test, IDLE, 'idle');
    await assert.rejects(events(test).wake(IDLE), /ep-steep-forest-654321 is disabled/);
    await assert.rejects(events(test).wake('ep-never-was-000000'), /There is no compute/);
    await test.client.updateCompute(PROJECT, IDLE, { disabled: false });
    await settled(test, IDLE, 'idle');
    test.engine.fail('start', 'could not bind');
    await assert.rejects(events(test).wake(IDLE), /could not bind/);
    assert.equal((await computeOf(test, IDLE)).current_state, 'idle');
  });
});

describe('A compute whose process crashes', () => {
  it('becomes idle, with the reason in a failed check', async () => {
    const test = await startInProcess();
    await settled(test, ACTIVE, 'active');
    events(test).crashed(ACTIVE, 'signal 9');
    const { current_state, last_error } = await computeOf(test, ACTIVE);
    assert.deepEqual([current_state, last_error], ['idle', 'signal 9']);
    const [last] = await operationsOf(test);
    assert.deepEqual([last?.action, last?.status, last?.error], ['check_availability', 'failed', 'signal 9']);
    await events(test).wake(ACTIVE);
    assert.equal((await computeOf(test, ACTIVE)).current_state, 'active');
  });
});

describe('Replication slots', () => {
  const checks: unknown[] = [];
  const engine = new FaultyEngine();
  engine.dropIdleSlots = async (...check) => void checks.push(check);
  const started = useInProcess({ engine });

  it('of branches in use are checked each minute', async () => {
    await settled(started(), ACTIVE, 'active');
    checks.length = 0;
    for (let passed = 0; passed < 120; passed += 10) {
      started().clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const used = (await computeOf(started(), ACTIVE)).branch_id;
    assert.equal(checks.length, 2);
    for (const check of checks as [string[], number][]) {
      assert.ok(check[0].includes(used));
      assert.equal(check[1], 60);
    }
  });
});

describe('The history of branches', () => {
  const checks: { readonly count: number; readonly isAll: boolean }[] = [];
  let end = async (): Promise<void> => undefined;
  const engine = new FaultyEngine();
  engine.keepHistory = async ({ length: count }, { isAll }) => {
    checks.push({ count, isAll });
    await end();
  };
  const started = useInProcess({ engine });
  const pass = async (seconds: number) => {
    checks.length = 0;
    for (let passed = 0; passed < seconds; passed += 10) {
      started().clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return checks;
  };
  beforeEach(() => settled(started(), ACTIVE, 'active'));
  afterEach(() => (checks.length = 0));

  it('is checked at the start, each 10 s for branches in use, and each minute for all', async () => {
    const [first] = checks;
    assert(first?.isAll === true && first.count > 2);
    assert.deepEqual(await pass(60), [...Array(5).fill({ count: 2, isAll: false }), first]);
  });

  it('is not checked again before a check has ended', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    end = async () => promise;
    assert.equal((await pass(30)).length, 1);
    resolve();
    await promise;
    assert.equal((await pass(30)).length, 3);
  });

  it('is not checked while no compute is active', async () => {
    const { client } = started();
    const active = async () => {
      const lists = [];
      for await (const { items } of client.projectPages())
        for (const { id } of items) lists.push(...(await client.listComputes(id)).items);
      return lists.filter(({ current_state }) => current_state === 'active');
    };
    for (const { project_id, id } of await active()) await client.suspendCompute(project_id, id);
    await until('no compute', async () => (await active()).length === 0);
    assert.deepEqual(await pass(60), []);
  });
});

describe('Computes after a restart of the service', () => {
  const folder = temporaryFolder();

  it('are idle and attached, and those that never suspend are active again', async () => {
    const first = await startInProcess({ folder });
    await settled(first, ACTIVE, 'active');
    await first.client.updateCompute(PROJECT, IDLE, { suspend_timeout_seconds: -1 });
    await events(first).wake(IDLE);
    const hosts = (await first.client.listComputes(PROJECT)).items.map(({ host }) => host);
    await first.stop();

    const second = await startInProcess({ folder });
    await settled(second, IDLE, 'active');
    assert.equal((await computeOf(second, ACTIVE)).current_state, 'idle');
    const { items } = await second.client.listComputes(PROJECT);
    assert.deepEqual(
      items.map(({ host }) => host),
      hosts,
    );
    for (const { id } of items) assert(second.engine.calls.includes(`attach ${id}`), id);
    const ofActive = (await operationsOf(second)).filter(({ endpoint_id }) => endpoint_id === ACTIVE);
    assert.deepEqual([ofActive[0]?.action, ofActive[0]?.status], ['suspend_compute', 'finished']);
  });

  it('have no usage for the time without the service', async () => {
    const killed = temporaryFolder();
    const first = await startInProcess();
    await settled(first, ACTIVE, 'active');
    copyFileSync(path.join(first.folder, ACCOUNT), path.join(killed, ACCOUNT));
    await first.stop();

    const second = await startInProcess({
      folder: killed,
      clock: new FakeClock(START_TIME + minutes(24 * 60)),
    });
    const { value } = await second.client.projectPages().next();
    await second.stop();
    assert.deepEqual(new Set(value?.items.map(({ cpu_used_sec }) => cpu_used_sec)), new Set([0]));
  });
});

describe('The connection URI', () => {
  let test: InProcess;
  before(async () => {
    test = await startInProcess();
  });
  const ask = (query: string) =>
    call(test.baseUrl, { path: `/projects/${PROJECT}/connection_uri?${query}`, key: test.key });
  const login = 'role_name=owner&database_name=my%2Fdb';

  it('contains the escaped login and the host of the compute', async () => {
    const { host } = await computeOf(test, IDLE);
    const { json, headers } = await ask(`${login}&endpoint_id=${IDLE}`);
    assert.deepEqual(json, { uri: `postgresql://owner:p%2Fw%3Ad%40@${host}/my%2Fdb` });
    assert.equal(headers['cache-control'], 'no-store');
  });

  it('is for the primary of the given or default branch if there is no compute', async () => {
    const host = async (id: string) => (await computeOf(test, id)).host;
    const uri = async (query: string) => ((await ask(query)).json as { uri: string }).uri;
    assert((await uri(login)).includes(await host(ACTIVE)));
    assert(
      (await uri(`${login}&branch_id=br-sweet-breeze-497520`)).includes(await host('ep-purple-water-204912')),
    );
  });

  it('has the pooled host on request, also if pooling is not enabled', async () => {
    const pooled = async () =>
      (await ask(`${login}&endpoint_id=${IDLE}&pooled=true`)).json as { uri: string };
    const before = await pooled();
    await test.client.updateCompute(PROJECT, IDLE, { pooler_enabled: true });
    await settled(test, IDLE, 'idle');
    const { pooler_host } = await computeOf(test, IDLE);
    assert(before.uri.includes(`@${pooler_host}/`));
    assert.deepEqual(await pooled(), before);
  });

  const faults: Record<string, readonly [string, number]> = {
    'an unknown role': ['role_name=nobody&database_name=db', 404],
    'no role': ['database_name=db', 400],
    'no database': ['role_name=owner', 400],
    'an unknown compute': [`${login}&endpoint_id=ep-nope`, 404],
    'an unknown branch': [`${login}&branch_id=br-nope`, 404],
    'a branch without a primary': [`${login}&branch_id=br-frosty-lake-110382`, 404],
    'a compute of another branch': [`${login}&endpoint_id=${IDLE}&branch_id=br-sweet-breeze-497520`, 404],
    'pooled as a word': [`${login}&pooled=maybe`, 400],
  };
  for (const [what, [query, status]] of Object.entries(faults)) {
    it(`gets ${status} for ${what}`, async () => {
      assert.equal((await ask(query)).status, status);
    });
  }
});

describe('An engine that fails to open', () => {
  it('leaves the control plane working, with the reason in the log', async () => {
    const engine = new FaultyEngine();
    engine.faults.set('open', new Error('data directory of version 19'));
    const test = await startInProcess({ engine });
    await test.client.updateCompute(PROJECT, IDLE, { name: 'still here' });
    const creation = { branch_id: 'br-frosty-lake-110382', type: 'read_only' } as const;
    await assert.rejects(test.client.createCompute(PROJECT, creation), /data directory of version 19/);
    await assert.rejects(test.client.restartCompute(PROJECT, IDLE), /data directory of version 19/);
    assert.match(test.log.join('\n'), /data directory of version 19/);
  });
});
