import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { watchFiles } from '../../../../src/extension/gitBranch/watchFiles.ts';
import { atEndOfTest } from '../../../helpers/atEndOfTest.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { createRepository } from '../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { ref, url, WorkFolderFixture } from '../../../helpers/workFolderFixture.ts';
import { until } from '../../../workbench/until.ts';

describe('WorkFolder', () => {
  let clock: FakeClock;
  const create = (repository = createRepository()) => {
    clock = new FakeClock();
    return new WorkFolderFixture(repository, clock);
  };
  /** The file points to the parent. The git branch `two` has a database branch. */
  const createFollowing = async () => {
    const fixture = create();
    for (const name of ['two', 'declined']) fixture.repository.git('branch', name);
    await fixture.map.setBranch('two', ref('two'));
    await fixture.map.setBranch('declined', 'none');
    await fixture.map.setParent(ref('one'));
    await fixture.map.setFollowed(true);
    fixture.write(url('one'));
    return fixture;
  };

  it('fires when its state changes, and only then', async () => {
    const fixture = create();
    // Without a known host, it reads only the env file, and watches nothing.
    fixture.knownHosts.isEmpty = true;
    const hosts: (string | undefined)[] = [];
    fixture.folder.onDidChange(() => hosts.push(fixture.folder.state.host));
    assert.deepEqual(fixture.decision, { kind: 'nothing' });
    fixture.write(url('unknown-1'));
    await fixture.folder.refresh();
    await fixture.folder.refresh();
    fixture.write(url('unknown-2'));
    await fixture.folder.refresh();
    assert.deepEqual(hosts, ['unknown-1.example.com', 'unknown-2.example.com']);
  });

  it('leaves the file on the default branch, and on one without a database branch, and asks nothing', async () => {
    const fixture = await createFollowing();
    await fixture.folder.refresh();
    assert.deepEqual(fixture.decision, { kind: 'keep', reason: 'defaultBranch' });
    fixture.checkOut('declined');
    await fixture.folder.refresh();
    assert.deepEqual(fixture.decision, { kind: 'keep', reason: 'declined' });
    assert.equal(fixture.value, url('one'));
    assert.deepEqual([fixture.asked, fixture.errors], [[], []]);
  });

  it('finds the database branch of a git branch in another case where file names ignore case', async () => {
    const fixture = await createFollowing();
    fixture.repository.git('config', 'core.ignoreCase', 'true');
    // As after `git switch TWO` on such a file system.
    writeFileSync(path.join(fixture.repository.folder, '.git', 'HEAD'), 'ref: refs/heads/TWO\n');
    await fixture.folder.refresh();
    assert.equal(fixture.value, url('two', 'new'));
    assert.equal(fixture.folder.state.git.branch, 'two');
  });

  it('keeps the file while git fails, and says why', async () => {
    const fixture = await createFollowing();
    await fixture.folder.refresh();
    fixture.checkOut('two');
    const config = path.join(fixture.repository.folder, '.git', 'config');
    const before = readFileSync(config);
    writeFileSync(config, 'not a config');
    await fixture.folder.refresh();
    const { decision, map } = fixture.folder.state;
    assert.match(
      decision.kind === 'stopped' ? `${decision.reason} ${decision.message}` : '',
      /^gitFailed fatal: /,
    );
    assert.deepEqual([fixture.value, map.isFollowed], [url('one'), true]);
    writeFileSync(config, before);
    await fixture.folder.refresh();
    assert.equal(fixture.value, url('two', 'new'));
  });

  it('reads nothing of an untrusted folder', async () => {
    const fixture = await createFollowing();
    fixture.env.isTrusted = false;
    await fixture.folder.activate();
    const { host, repository, decision } = fixture.folder.state;
    assert.deepEqual([host, repository, decision], [undefined, undefined, { kind: 'nothing' }]);
    fixture.env.isTrusted = true;
    await fixture.folder.refresh();
    assert.equal(fixture.folder.state.host, 'one.example.com');
  });

  it('says which file is a FIFO, its own or that of another worktree', async function () {
    if (process.platform === 'win32') return this.skip();
    const fixture = await createFollowing();
    const folders = ['a', 'b', 'c', 'd', 'e'].map((name) => path.join(fixture.repository.folder, '..', name));
    for (const folder of folders) {
      fixture.repository.git('worktree', 'add', '--quiet', folder);
      execFileSync('mkfifo', [path.join(folder, '.env')]);
    }
    fixture.checkOut('two');
    await fixture.folder.refresh();
    assert.equal(fixture.value, url('two', 'new'));
    assert.equal(fixture.folder.state.unreadOther?.problem, 'noFile');
    assert.ok(folders.includes(fixture.folder.state.unreadOther.folder));
    rmSync(path.join(fixture.repository.folder, '.env'));
    execFileSync('mkfifo', [path.join(fixture.repository.folder, '.env')]);
    await fixture.folder.refresh();
    assert.deepEqual(fixture.decision, { kind: 'stopped', reason: 'noFile' });
  });

  it('shows the checked-out branch already while its database branch is looked up', async () => {
    const fixture = await createFollowing();
    await fixture.folder.refresh();
    const shown: (string | undefined)[] = [];
    const { findPassword } = fixture;
    fixture.findPassword = async (branchId) => {
      shown.push(fixture.folder.state.git.branch);
      return await findPassword(branchId);
    };
    fixture.checkOut('two');
    await fixture.folder.refresh();
    assert.deepEqual(shown, ['two']);
  });

  it('tries again only if a service with an account cannot be reached, until it is disposed', async () => {
    const fixture = await createFollowing();
    fixture.checkOut('two');
    const retries = async (problem: 'noPassword' | 'offline', account?: string) => {
      fixture.findPassword = async () => {
        if (problem === 'offline') throw new Error(problem);
        return undefined;
      };
      fixture.account = account;
      await fixture.folder.refresh();
      assert.deepEqual(fixture.decision, { kind: 'stopped', reason: problem });
      return clock.waits.filter((milliseconds) => milliseconds === 10_000).length;
    };
    assert.equal(await retries('noPassword', 'local'), 0);
    assert.equal(await retries('offline'), 0);
    assert.equal(await retries('offline', 'local'), 1);
    fixture.folder.dispose();
    assert.deepEqual(clock.waits, []);
  });

  for (const [where, repositoryAt] of [
    ['in a repository', () => createRepository()],
    ['outside of one', () => createRepository().at(temporaryFolder())],
  ] as const)
    it(`notices a change that is made just before it watches a file ${where}`, async () => {
      const fixture = create(repositoryAt());
      fixture.write(url('one'));
      const { get } = fixture.knownHosts;
      fixture.knownHosts.get = (host) => {
        fixture.knownHosts.get = get;
        fixture.write(url('two'));
        return get(host);
      };
      await fixture.folder.refresh();
      assert.equal(fixture.folder.state.host, 'two.example.com');
    });

  it('drops what it reads while it is disposed', async () => {
    const fixture = await createFollowing();
    const refreshed = fixture.folder.refresh();
    fixture.folder.dispose();
    await refreshed;
    assert.equal(fixture.folder.state.repository, undefined);
  });

  describe('while it watches', () => {
    let fixture: WorkFolderFixture;
    let controls: number;

    beforeEach(async () => {
      fixture = create();
      fixture.repository.git('branch', 'two');
      fixture.write(url('one'));
      await fixture.folder.refresh();
      controls = 0;
      const gitDir = path.join(fixture.repository.folder, '.git');
      const control = watchFiles([[gitDir, ['control']]], () => (controls += 1));
      atEndOfTest(() => control.dispose());
    });

    // Events arrive in order, so the earlier ones have arrived when this one has.
    const eventsArrived = async () => {
      const before = controls;
      writeFileSync(path.join(fixture.repository.folder, '.git', 'control'), '');
      await until('the last event', async () => controls > before);
    };

    it('waits for the last of several changes, and for none after its disposal', async () => {
      fixture.checkOut('two');
      fixture.checkOut('main');
      await eventsArrived();
      assert.deepEqual(clock.waits, [150]);
      fixture.folder.dispose();
      assert.deepEqual(clock.waits, []);
      fixture.checkOut('two');
      await eventsArrived();
      assert.deepEqual(clock.waits, []);
    });

    it('stops watching once the file points to an unknown branch', async () => {
      fixture.write(url('unknown'));
      await eventsArrived();
      clock.next();
      await fixture.folder.refresh();
      fixture.checkOut('two');
      await eventsArrived();
      assert.deepEqual(clock.waits, []);
    });
  });
});
