/**
 * Several windows on one account, and what time does to them: each window is the model as the extension wires it, with
 * a separate clock, and all share the secret store. The service is the real one; a proxy counts what reaches it.
 */
import assert from 'node:assert/strict';
import { BackgroundRefresh } from '../../src/model/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../src/model/refresh/requestBudget.ts';
import { GIVE_UP_AFTER } from '../../src/model/operations/operationTracker.ts';
import type { EndReport } from '../../src/model/operations/pendingChange.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../helpers/connectedModel.ts';
import { FaultProxy } from '../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../helpers/localService.ts';
import { SecretMap } from '../helpers/secretMap.ts';
import { until } from '../workbench/until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ENDPOINTS = /\/endpoints$/;
const BRANCHES = /\/branches$/;
const ACCOUNT = /^\/projects$/;

interface Window extends ConnectedModel {
  readonly memory: MemoryMap;
  readonly ends: EndReport[];
  readonly refresh: BackgroundRefresh;
}

describe('Windows on one account', () => {
  let service: LocalService;
  let proxy: FaultProxy;
  let secrets: SecretMap;
  let windows: Window[];
  let projectId: string;

  before(async () => {
    service = await startLocalService({ postgres: false, args: ['--operation-delay', '400'] });
    for await (const page of service.client.projectPages()) projectId = page.items[0]?.id ?? '';
  });
  after(() => service.stop());

  beforeEach(async () => {
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    secrets = new SecretMap();
    windows = [];
  });
  afterEach(async () => {
    for (const window of windows) {
      window.refresh.dispose();
      window.dispose();
    }
    await proxy.stop();
  });

  /** Its view is open on the first project. */
  async function open(memory = new MemoryMap()): Promise<Window> {
    const store = await connectModel(proxy, { memory, secrets, key: service.key });
    const ends: EndReport[] = [];
    store.tracker.onDidEnd((end) => ends.push(end));
    const refresh = new BackgroundRefresh({
      inventory: store.inventory,
      expanded: () => [projectId],
      polledElsewhere: () => store.tracker.projects,
      interval: () => MINUTE,
      onError: (error) => store.errors.push(error),
      budget: new RequestBudget({ clock: store.clock }),
      clock: store.clock,
      random: () => 1,
    });
    const window = { ...store, memory, ends, refresh };
    windows.push(window);
    await store.inventory.ensureProjects();
    await store.inventory.loadComputes(projectId);
    return window;
  }

  async function openThree(): Promise<readonly [Window, Window, Window]> {
    const three = [await open(), await open(), await open()] as const;
    proxy.requests.length = 0;
    return three;
  }

  /** Moves the focus as VS Code does: at most one window has it. */
  const focus = (chosen?: Window) => windows.forEach((each) => each.refresh.setVisible(each === chosen));

  async function restart(window: Window): Promise<void> {
    await until('an end of what runs', async () => {
      const { items } = await service.client.listComputes(projectId);
      return items.every(({ pending_state: pending }) => !pending);
    });
    await window.inventory.refreshComputes(projectId);
    const compute = [...(window.inventory.computesOf(projectId)?.computes.values() ?? [])].find(
      ({ type, current_state: state }) => type === 'read_write' && state === 'active',
    );
    assert.ok(compute);
    const node = {
      kind: 'compute',
      projectId,
      branchId: compute.branch_id,
      computeId: compute.id,
    } as const;
    assert.equal((await window.computeActions.restart(node, window.options)).isPending, true);
    proxy.requests.length = 0;
  }

  /** Lets time pass in a window until its change has ended. */
  async function follow(window: Window): Promise<EndReport> {
    return until('the end of the change', async () => {
      if (window.clock.waits.length > 0) window.clock.next();
      return window.ends[0];
    });
  }

  it('send as many requests as one window: those without the focus have no timer', async () => {
    const [first, second, third] = await openThree();
    focus(first);
    for (let minutes = 0; minutes < 5; minutes += 1) assert.equal(await first.clock.turn(), MINUTE);
    assert.equal(proxy.count('GET', ENDPOINTS), 5);
    assert.equal(proxy.count('GET', BRANCHES), 5);
    assert.equal(proxy.count('GET', ACCOUNT), 1);
    assert.equal(proxy.count(), 11);
    assert.deepEqual([second.clock.waits, third.clock.waits], [[], []]);
  });

  it('refresh once when they get the focus after a while, and not when it goes back and forth', async () => {
    const three = await openThree();
    for (const each of three) each.clock.pass(10 * MINUTE);
    for (let times = 0; times < 20; times += 1) {
      for (const each of three) {
        focus(each);
        if (each.clock.waits[0] === 0) await each.clock.turn();
      }
    }
    assert.equal(proxy.count('GET', ENDPOINTS), three.length);
    assert.equal(proxy.count('GET', BRANCHES), three.length);
    assert.equal(proxy.count(), 2 * three.length);
  });

  it('follow a change in the one that made it, and in no other', async () => {
    const [first, second, third] = await openThree();
    await restart(first);
    assert.deepEqual([second.clock.waits, third.clock.waits], [[], []]);
    assert.equal((await follow(first)).outcome, 'finished');
    assert.deepEqual([second.tracker.pending, third.tracker.pending], [[], []]);
    await until('the poller to stop', async () => first.clock.waits.length === 0);
    proxy.requests.length = 0;
    focus(second);
    second.clock.pass(HOUR);
    second.clock.next();
    await until('the second window to see it', async () => proxy.count('GET', ENDPOINTS) === 1);
  });

  it('back off while offline, and refresh at once when they get the focus again', async () => {
    const [first] = await openThree();
    focus(first);
    await proxy.down();
    await first.clock.turn();
    const waits = [await first.clock.turn(), await first.clock.turn(), await first.clock.turn()];
    assert.deepEqual(waits, [2 * MINUTE, 4 * MINUTE, 8 * MINUTE]);
    assert.deepEqual(first.clock.waits, [10 * MINUTE]);
    assert.ok(first.inventory.computesOf(projectId)?.computes.size, 'the last good list stays');
    await proxy.up();
    focus();
    first.clock.pass(MINUTE);
    focus(first);
    await first.clock.turn();
    assert.equal(proxy.count('GET', ENDPOINTS), 1);
    assert.equal(first.inventory.computesOf(projectId)?.failure, undefined);
  });

  it('refresh once after a night of sleep, however many timers are due at the same time', async () => {
    const [first] = await openThree();
    focus(first);
    await restart(first);
    const timers = first.clock.waits.length;
    assert.ok(timers >= 2, 'one that refreshes, one that follows the change');
    first.clock.pass(8 * HOUR);
    for (let each = 0; each < timers; each += 1) first.clock.next();
    // The service replied, so the change has ended or is given up.
    await until('the end of the change', async () => first.ends.length === 1);
    await until('the next refresh to be due', async () => first.clock.waits.length === timers - 1);
    assert.equal(proxy.count('GET', ENDPOINTS), 1);
  });

  it('keep following a change after a night of sleep without a network', async () => {
    const window = await open();
    await restart(window);
    await proxy.down();
    window.clock.pass(8 * HOUR);
    for (let turns = 0; turns < 3; turns += 1) await window.clock.turn();
    assert.deepEqual(window.ends, []);
    assert.ok((window.clock.waits[0] ?? 0) <= MINUTE);
    await until('the restart', async () => {
      const { items } = await service.client.listComputes(projectId);
      return items.every(({ pending_state: pending }) => !pending);
    });
    await proxy.up();
    assert.equal((await follow(window)).outcome, 'finished');
  });

  it('give up a change after 15 minutes of replies of a wrong shape', async () => {
    const window = await open();
    await restart(window);
    proxy.inject('wrongShape', { method: 'GET', times: Number.POSITIVE_INFINITY });
    await window.clock.turn();
    assert.deepEqual(window.ends, []);
    window.clock.pass(GIVE_UP_AFTER);
    assert.equal((await follow(window)).outcome, 'stuck');
    await until('the poller to stop', async () => window.clock.waits.length === 0);
  });

  it('finish a change that was kept before the clock of the machine was set back', async () => {
    const window = await open();
    await restart(window);
    const [entry = '', kept] = [...window.memory.entries][0] ?? [];
    assert.ok(Array.isArray(kept));
    await window.memory.update(
      entry,
      kept.map((change: object) => ({ ...change, since: 30 * HOUR })),
    );
    window.dispose();
    const next = await open(window.memory);
    assert.equal((await follow(next)).outcome, 'finished');
    assert.ok(next.clock.now() < 30 * HOUR);
  });
});
