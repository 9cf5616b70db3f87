import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { copyRepository, type GitRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { prepareRepository, ref, url, WorkFolderFixture } from '../../../helpers/workFolderFixture.ts';
import { until } from '../../../workbench/until.ts';

describe('WorkFolder', () => {
  let prepared: GitRepository;
  let fixture: WorkFolderFixture;
  const create = () => {
    fixture = new WorkFolderFixture(copyRepository(prepared));
    fixture.write(url('one'));
    return fixture;
  };
  const follow = async () => {
    await fixture.map.setFollowed(true);
    await fixture.folder.refresh();
  };

  before(async () => (prepared = await prepareRepository()));
  beforeEach(create);
  afterEach(() => assert.deepEqual(fixture.errors, []));

  it('shows the branch of the file without following', async () => {
    await fixture.folder.refresh();
    assert.equal(fixture.folder.state.current?.branchName, 'one');
    fixture.checkOut('two');
    await until('the checkout', async () => fixture.folder.state.git.branch === 'two');
    assert.equal(fixture.value, url('one'));
    assert.deepEqual(fixture.decision, { kind: 'nothing' });
  });

  it('shows the branch of a file outside of a repository', async () => {
    const outside = new WorkFolderFixture(fixture.repository.at(temporaryFolder()));
    outside.write(url('one'));
    await outside.folder.refresh();
    assert.equal(outside.folder.state.current?.branchName, 'one');
    assert.equal(outside.folder.state.repository, undefined);
    assert.deepEqual(outside.decision, { kind: 'nothing' });
  });

  it('reads git without a known host only once it is used', async () => {
    fixture.knownHosts.isEmpty = true;
    await fixture.map.setFollowed(true);
    await fixture.folder.refresh();
    const before = fixture.folder.state;
    assert.equal(before.repository, undefined);
    await fixture.folder.activate();
    assert.equal(fixture.folder.state.git.branch, 'one');
    fixture.checkOut('two');
    await fixture.becomes('two');
  });

  it('follows checkouts in a terminal, and ends at the last one', async () => {
    await follow();
    fixture.checkOut('two');
    await fixture.becomes('two');
    assert.equal(fixture.value, url('two', 'new'));
    for (const name of ['one', 'two', 'new', 'one']) fixture.checkOut(name);
    await fixture.becomes('one');
    assert.deepEqual(fixture.asked, []);
  });

  it('asks once about an unknown git branch, only with the focus, and leaves the file as it is', async () => {
    await follow();
    fixture.canAsk = false;
    fixture.checkOut('new');
    await until('the decision', async () => fixture.decision.kind === 'ask');
    assert.deepEqual(fixture.asked, []);
    fixture.canAsk = true;
    await fixture.folder.refresh();
    await fixture.folder.refresh();
    assert.deepEqual(fixture.asked, ['new']);
    assert.equal(fixture.value, url('one'));
    await fixture.map.setBranch('new', ref('new'));
    await fixture.becomes('new');
  });

  it('writes the target of the last checkout if one comes while a target is looked up', async () => {
    await follow();
    const looked: string[] = [];
    const { findPassword } = fixture;
    fixture.findPassword = async (branchId) => {
      looked.push(branchId);
      if (looked.length === 1) fixture.checkOut('one');
      return await findPassword(branchId);
    };
    fixture.checkOut('two');
    await until('the look-up', async () => looked.length === 1);
    await fixture.folder.refresh();
    assert.equal(fixture.value, url('one'));
    assert.deepEqual(fixture.switched, []);
  });

  for (const [event, change, reason, value] of [
    ['it is changed', () => fixture.write(url('unknown')), 'foreignValue', url('unknown')],
    ['the account is switched', () => (fixture.account = 'other'), 'otherAccount', url('one')],
  ] as const)
    it(`leaves a value if ${event} while a target is looked up, and looks at it again`, async () => {
      await follow();
      const { findPassword } = fixture;
      fixture.findPassword = async (branchId) => {
        change();
        return await findPassword(branchId);
      };
      fixture.checkOut('two');
      await until('the decision', async () => fixture.decision.kind === 'stopped');
      await fixture.folder.refresh();
      assert.deepEqual(fixture.decision, { kind: 'stopped', reason });
      assert.equal(fixture.value, value);
    });

  it('tries again after a failure', async () => {
    await follow();
    const { findPassword } = fixture;
    fixture.findPassword = () => Promise.reject(new Error('offline'));
    fixture.checkOut('two');
    await until('the decision', async () => fixture.decision.kind === 'stopped');
    assert.equal(fixture.value, url('one'));
    fixture.findPassword = findPassword;
    await fixture.folder.refresh();
    assert.equal(fixture.value, url('two', 'new'));
  });

  it('tries a service that cannot be reached again after ten seconds, but not after disposal', async () => {
    await follow();
    fixture.folder.dispose();
    const clock = new FakeClock();
    fixture = new WorkFolderFixture(fixture.repository, clock);
    const { findPassword } = fixture;
    fixture.findPassword = () => Promise.reject(new Error('offline'));
    fixture.checkOut('two');
    await fixture.folder.refresh();
    assert.deepEqual(clock.waits, [10_000]);
    fixture.findPassword = findPassword;
    clock.next();
    await fixture.becomes('two');
    await until('the end', async () => fixture.decision.kind === 'nothing');
    fixture.checkOut('one');
    await until('the checkout', async () => clock.waits.length > 0);
    fixture.folder.dispose();
    assert.deepEqual(clock.waits, []);
  });

  for (const [reason, change] of [
    ['deleted', { isDeleted: true }],
    ['expired', { expiresAt: '2020-01-01T00:00:00Z' }],
  ] as const)
    it(`says that the database branch of a git branch is ${reason}`, async () => {
      const { find } = fixture.knownHosts;
      fixture.knownHosts.find = (branch) => ({ ...find(branch), ...change });
      await follow();
      assert.deepEqual(fixture.decision, { kind: 'stopped', reason });
    });

  it('leaves a file that git tracks', async () => {
    fixture.repository.git('add', '--force', '.env');
    await follow();
    fixture.checkOut('two');
    await until('the decision', async () => fixture.decision.kind === 'stopped');
    assert.deepEqual(fixture.decision, { kind: 'stopped', reason: 'tracked' });
    assert.equal(fixture.value, url('one'));
  });

  it('leaves the file to the command line while .neon says so', async () => {
    await follow();
    const neonFile = path.join(fixture.repository.folder, '.neon');
    writeFileSync(neonFile, JSON.stringify({ projectId: 'shop-1', git: { follow: true } }));
    await until('the decision', async () => fixture.decision.kind === 'keep');
    fixture.checkOut('two');
    await until('the checkout', async () => fixture.folder.state.git.branch === 'two');
    await fixture.folder.refresh();
    assert.deepEqual(fixture.decision, { kind: 'keep', reason: 'byNeon' });
    assert.equal(fixture.value, url('one'));
    writeFileSync(neonFile, JSON.stringify({ projectId: 'shop-1', git: { follow: false } }));
    await fixture.becomes('two');
  });

  it('keeps the branch in .neon in step, only for the same project', async () => {
    const neonFile = path.join(fixture.repository.folder, '.neon');
    const neon = () => JSON.parse(readFileSync(neonFile, 'utf8'));
    const git = { follow: false, map: { one: 'other' } };
    writeFileSync(neonFile, JSON.stringify({ projectId: 'shop-1', branch: 'one', more: 1, git }));
    await follow();
    fixture.checkOut('two');
    await fixture.becomes('two');
    await until('the branch in .neon', async () => neon().branch === 'two');
    assert.deepEqual(neon(), { projectId: 'shop-1', branch: 'two', more: 1, git });
    fixture.folder.setUndone('two');
    fixture.write(url('one'));
    await fixture.folder.refresh();
    await fixture.folder.updateNeonFile();
    assert.equal(neon().branch, 'one');
    const other = { projectId: 'blog-2', branch: 'main' };
    writeFileSync(neonFile, JSON.stringify(other));
    fixture.checkOut('one');
    await until('the checkout', async () => fixture.folder.state.git.branch === 'one');
    fixture.checkOut('two');
    await fixture.becomes('two');
    await fixture.folder.refresh();
    assert.deepEqual(neon(), other);
  });

  it('keeps what was undone until the next checkout', async () => {
    await follow();
    fixture.checkOut('two');
    await fixture.becomes('two');
    fixture.folder.setUndone('two');
    fixture.write(url('one'));
    await fixture.folder.refresh();
    assert.deepEqual(fixture.decision, { kind: 'keep', reason: 'undone' });
    fixture.checkOut('one');
    await until('the checkout', async () => fixture.folder.state.git.branch === 'one');
    fixture.checkOut('two');
    await fixture.becomes('two');
  });

  it('pauses during a rebase that stops, and continues after it', async () => {
    await follow();
    fixture.repository.git('commit', '--quiet', '--allow-empty', '--message=Second');
    fixture.repository.git(
      '-c',
      'sequence.editor=echo break >',
      'rebase',
      '--interactive',
      '--quiet',
      'main',
    );
    await until('the pause', async () => fixture.decision.kind === 'paused');
    assert.deepEqual(fixture.decision, { kind: 'paused', reason: 'rebase' });
    fixture.repository.git('rebase', '--abort');
    await until('its end', async () => fixture.decision.kind === 'nothing');
    assert.equal(fixture.value, url('one'));
  });

  it('lets two windows on one folder agree, with one write', async () => {
    await follow();
    const second = new WorkFolderFixture(fixture.repository);
    await second.folder.refresh();
    fixture.checkOut('two');
    await fixture.becomes('two');
    for (const { folder } of [fixture, second]) await folder.refresh();
    assert.equal(fixture.switched.length + second.switched.length, 1);
  });

  it('follows in a linked worktree with its own file', async () => {
    await follow();
    const folder = path.join(fixture.repository.folder, '..', 'linked');
    fixture.repository.git('worktree', 'add', '--quiet', folder, 'two');
    const linked = new WorkFolderFixture(fixture.repository.at(folder));
    linked.write(url('one'));
    await linked.folder.refresh();
    assert.equal(linked.value, url('two', 'new'));
    assert.equal(fixture.value, url('one'));
  });

  it('asks nothing for a linked worktree if no other one has a known database branch', async () => {
    fixture.write(url('unknown'));
    const folder = path.join(fixture.repository.folder, '..', 'alone');
    fixture.repository.git('worktree', 'add', '--quiet', '-b', 'alone', folder);
    const alone = new WorkFolderFixture(fixture.repository.at(folder));
    await alone.folder.refresh();
    assert.equal(alone.folder.state.git.branch, 'alone');
    assert.deepEqual(alone.asked, []);
  });

  it('offers a database branch to a linked worktree whose file is missing or a copy, and names the other one', async () => {
    const add = (name: string) => {
      const folder = path.join(fixture.repository.folder, '..', name);
      fixture.repository.git('worktree', 'add', '--quiet', '-b', name, folder);
      return new WorkFolderFixture(fixture.repository.at(folder));
    };
    const missing = add('missing');
    await missing.folder.refresh();
    assert.deepEqual(missing.asked, ['missing missing']);
    const copied = add('copied');
    copied.write(url('one'));
    await copied.folder.refresh();
    assert.deepEqual(copied.asked, ['copied shared']);
    assert.equal(copied.folder.state.sharedWith, fixture.repository.folder);
    await fixture.folder.refresh();
    assert.equal(fixture.folder.state.sharedWith, undefined);
    assert.deepEqual(fixture.asked, []);
    await copied.map.setBranch('copied', ref('copied'));
    copied.write(url('copied'));
    await copied.folder.refresh();
    assert.equal(copied.folder.state.sharedWith, undefined);
  });
});
