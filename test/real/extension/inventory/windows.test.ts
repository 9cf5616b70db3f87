/**
 * Several windows on one account, over time: each window is the model as the extension wires it, with
 * a separate clock, and all share the secret store. The service is the real one; a proxy counts what reaches it.
 */
import assert from 'node:assert/strict';
import { isRejected } from '../../../../src/api/transport/errors.ts';
import type { Compute } from '../../../../src/api/records/records.ts';
import type { ComputeNode } from '../../../../src/extension/inventory/nodes.ts';
import { BackgroundRefresh } from '../../../../src/extension/inventory/refresh/backgroundRefresh.ts';
import { RequestBudget } from '../../../../src/extension/inventory/refresh/requestBudget.ts';
import type { ChangeEnd } from '../../../../src/extension/operations/pendingChange.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { FaultProxy } from '../../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { SecretMap } from '../../../helpers/secretMap.ts';
import { until } from '../../../workbench/until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ENDPOINTS = /\/endpoints$/;
const BRANCHES = /\/branches$/;
const ACCOUNT = /^\/projects$/;

interface Window extends ConnectedModel {
  readonly memory: MemoryMap;
  readonly ends: ChangeEnd[];
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

  beforeEach(async () => {
    proxy = await FaultProxy.start({ upstream: service.baseUrl });
    secrets = new SecretMap();
    windows = [];
  });
  afterEach(() => {
    for (const window of windows) {
      window.refresh.dispose();
      window.dispose();
    }
  });

  /** Its view is open on the first project. */
  async function open(memory = new MemoryMap()): Promise<Window> {
    const store = await connectModel(proxy, { memory, secrets, key: service.key });
    const ends: ChangeEnd[] = [];
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

  const computes = async (): Promise<readonly Compute[]> =>
    (await service.client.listComputes(projectId)).items;
  const settled = () =>
    until('an end of what runs', async () => (await computes()).every(({ pending_state }) => !pending_state));
  const node = ({ id: computeId, branch_id: branchId }: Compute): ComputeNode => ({
    kind: 'compute',
    projectId,
    branchId,
    computeId,
  });
  const newReplica = async (): Promise<Compute> => {
    const [{ branch_id } = assert.fail('no compute')] = await computes();
    const { compute } = await service.client.createCompute(projectId, { branch_id, type: 'read_only' });
    assert.ok(compute);
    await settled();
    return compute;
  };

  async function restart(window: Window): Promise<void> {
    await settled();
    await window.inventory.refreshComputes(projectId);
    const compute = (await computes()).find(
      ({ type, current_state: state }) => type === 'read_write' && state === 'active',
    );
    assert.ok(compute);
    assert((await window.computeActions.restart(node(compute), window.options)).pendingId !== undefined);
    proxy.requests.length = 0;
  }

  /** Lets time pass in a window until its change has ended. */
  async function follow(window: Window): Promise<ChangeEnd> {
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

  describe('that change it at the same moment', () => {
    /** Makes a change in two windows and waits for its end. Returns the reasons why it was not made. */
    async function inBoth(change: (window: Window, index: number) => Promise<unknown>): Promise<unknown[]> {
      const results = await Promise.allSettled(windows.map(change));
      await until('the ends of the changes', async () => {
        for (const { clock } of windows) if (clock.waits.length > 0) clock.next();
        return windows.every(({ tracker }) => tracker.pending.length === 0);
      });
      await settled();
      return results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    }
    let replica: Compute;

    beforeEach(async () => {
      replica = await newReplica();
      await open();
      await open();
    });

    it('may edit different attributes of a compute', async () => {
      const changes = [{ name: 'new name' }, { suspend_timeout_seconds: 600 }];
      const failures = await inBoth(({ computeActions, options }, index) =>
        computeActions.update(node(replica), changes[index] ?? {}, options),
      );
      assert.deepEqual(failures, []);
      const compute = (await computes()).find(({ id }) => id === replica.id);
      assert.deepEqual([compute?.name, compute?.suspend_timeout_seconds], ['new name', 600]);
    });

    it('may restart a compute: each change has an end, or the reason why it was not made', async () => {
      const failures = await inBoth(({ computeActions, options }) =>
        computeActions.restart(node(replica), options),
      );
      assert.ok(failures.length < 2 && failures.every((error) => isRejected(error, 423)));
    });

    it('may delete a compute: it is gone from both', async () => {
      const failures = await inBoth(({ computeActions, options }) =>
        computeActions.delete(node(replica), options),
      );
      assert.ok(failures.every((error) => isRejected(error, 404)));
      await until('the compute to be gone', async () =>
        windows.every(({ inventory }) => inventory.compute(projectId, replica.id) === undefined),
      );
    });

    it('do not mistake a compute of another window for the one whose creation failed', async () => {
      const [first, second] = windows;
      assert.ok(first && second);
      const creation = { branch_id: replica.branch_id, type: 'read_only' } as const;
      await second.computeActions.create(projectId, creation, second.options);
      await settled();
      proxy.inject('unavailablePage', { method: 'POST' });
      await assert.rejects(first.computeActions.create(projectId, creation, first.options), (error) =>
        isRejected(error, 503),
      );
    });
  });
});
