/** What a rotation writes down fails, or another window comes into it: nothing is lost without a word. */
import assert from 'node:assert/strict';
import {
  PendingRotations,
  QUIET,
  type PendingRotation,
} from '../../../../src/model/account/pendingRotations.ts';
import { pause } from '../../../../src/base/clock.ts';
import { Accounts } from '../../../../src/model/account/accounts.ts';
import { rotateKey } from '../../../../src/model/account/keyRotation.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { RotatingAccount, RotationMap } from '../../../helpers/rotatingAccount.ts';
import { until } from '../../../workbench/until.ts';

describe('PendingRotations', () => {
  let service: LocalService;
  let key: RotatingAccount;
  /** The value of the old key. */
  let first: string;

  before(async () => {
    service = await startLocalService({ postgres: false });
  });
  after(() => service.stop());
  beforeEach(async () => {
    key = await RotatingAccount.start(service);
    first = await key.storedKey();
  });
  afterEach(() => key.stop());

  describe('with a full or slow store', () => {
    it('creates no key when the rotation cannot be kept', async () => {
      key.rotations.create = async () => await Promise.reject(new Error('no room'));
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unchanged' && outcome.step === 'create');
      assert.match(String(outcome.error), /no room/);
      assert.equal(key.proxy.count('POST'), 0);
      assert.deepEqual(await key.existing(), [key.oldKey]);
    });

    it('creates the key only after the rotation is kept', async () => {
      const kept = Promise.withResolvers<void>();
      const create = key.rotations.create.bind(key.rotations);
      key.rotations.create = async (account, rotation) => {
        await kept.promise;
        return await create(account, rotation);
      };
      const rotating = key.rotate();
      assert.deepEqual(await key.existing(), [key.oldKey]);
      kept.resolve();
      assert.equal((await rotating).kind, 'rotated');
      assert.equal(key.proxy.count('POST'), 1);
    });

    it('reports success even if the rotation cannot be forgotten; the next start finds nothing to do', async () => {
      const remove = key.rotations.remove.bind(key.rotations);
      key.rotations.remove = async () => await Promise.reject(new Error('no room'));
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'rotated');
      key.rotations.remove = remove;
      assert.deepEqual(await key.resume(), outcome);
      assert.deepEqual(await key.existing(), [outcome.newKey]);
      assert.deepEqual(key.pending.accounts, []);
    });

    it('keeps names and ids, never a key', async () => {
      key.proxy.inject('internalError', { method: 'DELETE' });
      await key.rotate();
      const state = JSON.stringify(key.rotations.all());
      assert.match(state, /laptop 2/);
      for (const value of [first, await key.storedKey()]) assert.ok(!state.includes(value));
    });
  });

  describe('with a failing keyring', () => {
    it('revokes the new key if the keyring does not keep it', async () => {
      key.secrets.keep = async () => await Promise.reject(new Error('no room'));
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'unchanged' && outcome.step === 'store');
      assert.equal(await key.storedKey(), first);
      assert.equal(key.seen.length, 1, 'the new value is reported as secret');
      assert.deepEqual(await key.existing(), [key.oldKey]);
    });

    it('names the new key if the keyring does not keep it and it cannot be revoked', async () => {
      key.secrets.keep = async () => await Promise.reject(new Error('no room'));
      key.proxy.inject('internalError', { method: 'DELETE' });
      const outcome = await key.rotate();
      assert.ok(outcome.kind === 'lost');
      assert.deepEqual(await key.existing(), [key.oldKey, outcome.newKey]);
      assert.deepEqual(await key.resume(), { kind: 'lost', newKey: outcome.newKey, error: undefined });
    });

    for (const failing of ['apiKey', 'accounts'])
      it(`leaves both keys valid when the keyring fails at ${failing}, and finishes on retry`, async () => {
        const keep = key.secrets.keep.bind(key.secrets);
        key.secrets.keep = async (entry, value) => {
          if (entry.startsWith(`hostedPostgres.${failing}`)) throw new Error('locked');
          await keep(entry, value);
        };
        const outcome = await key.rotate();
        assert.ok(outcome.kind === 'unfinished' && outcome.step === 'store');
        assert.deepEqual(await key.existing(), [key.oldKey, outcome.newKey]);
        assert.ok(await key.storedKeyWorks());
        key.secrets.keep = keep;
        assert.equal((await key.resume()).kind, 'rotated');
        assert.deepEqual(await key.existing(), [outcome.newKey]);
        assert.equal((await key.accounts.list()).current?.keyId, outcome.newKey.id);
      });

    it("stays pending while the account's key cannot be read", async () => {
      key.proxy.inject('internalError', { method: 'DELETE' });
      await key.rotate();
      const read = key.secrets.get.bind(key.secrets);
      key.secrets.get = async () => await Promise.resolve(undefined);
      assert.equal((await key.resume()).kind, 'signedOut');
      key.secrets.get = read;
      assert.equal((await key.resume()).kind, 'rotated');
    });
  });

  describe('in two windows', () => {
    it('rejects another rotation while one is pending', async () => {
      key.proxy.inject('internalError', { method: 'DELETE' });
      await key.rotate();
      assert.deepEqual(await key.rotate({ name: 'laptop 3' }), { kind: 'busy' });
      assert.equal((await key.existing()).length, 2);
    });

    for (const delay of [0, 8, 16, 24, 32, 48])
      it(`replaces the key once when the second window starts ${delay} ms later`, async () => {
        const connection = await key.connection();
        const rotateAfter = async (wait: number, name: string) => {
          await pause(wait);
          const accounts = new Accounts(key.secrets);
          const pending = new PendingRotations(key.rotations);
          return await rotateKey({ ...key.parts, accounts, pending }, connection, {
            name,
            oldKey: key.oldKey,
          });
        };
        const [one, other] = await Promise.all([rotateAfter(0, 'laptop a'), rotateAfter(delay, 'laptop b')]);
        assert.ok(one.kind === 'rotated');
        assert.ok(other.kind === 'busy' || other.kind === 'changed');
        assert.deepEqual(await key.existing(), [one.newKey]);
        assert.ok(await key.storedKeyWorks());
        assert.deepEqual(key.pending.accounts, []);
      });

    it('rejects a key that another window has replaced', async () => {
      const connection = await key.connection();
      await key.rotate();
      const keys = { name: 'laptop 3', oldKey: key.oldKey };
      assert.deepEqual(await rotateKey(key.parts, connection, keys), { kind: 'changed' });
      assert.equal((await key.existing()).length, 1);
      assert.deepEqual(key.pending.accounts, []);
    });

    it('leaves a rotation to the window that works on it', async () => {
      const clock = new FakeClock();
      key.pending = new PendingRotations(key.rotations, clock);
      const working = Promise.withResolvers<void>();
      const rotation = { account: key.account.baseUrl, name: 'laptop 2' };
      const running = key.pending.begin(rotation, () => working.promise);
      let found: PendingRotation | undefined | 'waiting' = 'waiting';
      const other = new PendingRotations(key.rotations, clock)
        .abandoned(key.account.baseUrl)
        .then((it) => (found = it));
      await until('both timers', async () => clock.waits.length === 2);
      const end = clock.now() + 10 * QUIET;
      while (clock.now() < end) await clock.turn();
      assert.equal(found, 'waiting');
      working.resolve();
      await running;
      while (clock.waits.length > 0) await passTimer(clock);
      await other;
      assert.deepEqual(
        found,
        key.pending.of(key.account.baseUrl),
        'the first window has gone without an end',
      );
      await key.pending.forget(key.account.baseUrl);
      assert.equal(await key.pending.abandoned(key.account.baseUrl), undefined);
    });
  });
});

describe('PendingRotations without a service', () => {
  const rotation: PendingRotation = { account: 'one', name: 'new', oldKey: { id: 1, name: 'old' } };
  let rotations: RotationMap;
  let clock: FakeClock;
  let pending: PendingRotations;

  beforeEach(() => {
    rotations = new RotationMap();
    clock = new FakeClock();
    pending = new PendingRotations(rotations, clock);
  });

  it('finds the rotation of each account', async () => {
    const other = { account: 'two', name: 'new' };
    for (const each of [rotation, other]) await pending.begin(each, async () => undefined);
    assert.deepEqual(pending.accounts, ['one', 'two']);
    assert.deepEqual(pending.of('two'), other);
    assert.equal(pending.of('three'), undefined);
  });

  for (const odd of [
    null,
    'one',
    { account: 'one' },
    { name: 'new' },
    { ...rotation, oldKey: null },
    { ...rotation, oldKey: { id: 1 } },
    { ...rotation, oldKey: { id: 'x', name: 'old' } },
  ])
    it(`ignores the invalid record ${JSON.stringify(odd)}`, async () => {
      await rotations.create('one', odd);
      assert.deepEqual(pending.accounts, []);
      assert.equal(pending.of('one'), undefined);
    });

  it('shows every second that the window is alive, and stops with the work or the window', async () => {
    const work = Promise.withResolvers<void>();
    const running = pending.begin(rotation, () => work.promise);
    await until('the first sign', async () => clock.waits.length === 1);
    assert.deepEqual(clock.waits, [0]);
    await clock.turn();
    assert.deepEqual(clock.waits, [1000]);
    assert.equal(rotations.all()[0]?.beat, 1);
    await clock.turn();
    assert.equal(rotations.all()[0]?.beat, 2);
    const other = new PendingRotations(rotations, clock);
    void other.run('one', () => work.promise);
    assert.equal(clock.waits.length, 2);
    other.dispose();
    assert.equal(clock.waits.length, 1);
    work.resolve();
    await running;
    assert.deepEqual(clock.waits, []);
  });

  it('stops waiting for another window when disposed', async () => {
    await pending.begin(rotation, async () => undefined);
    void pending.abandoned('one');
    assert.deepEqual(clock.waits, [5000]);
    pending.dispose();
    assert.deepEqual(clock.waits, []);
  });
});

/** Runs the next timer and what follows from it at once. */
async function passTimer(clock: FakeClock): Promise<void> {
  clock.next();
  await new Promise((resolve) => setImmediate(resolve));
}
