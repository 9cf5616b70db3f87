import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { watchFiles } from '../../../../src/extension/gitBranch/watchFiles.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';

describe('watchFiles', () => {
  let folder: string;
  const write = (name: string) => writeFileSync(path.join(folder, name), 'text');

  beforeEach(() => {
    folder = temporaryFolder();
  });

  it('reports only its files that are created, changed or replaced, until it is disposed', async () => {
    let [changes, controls] = [0, 0];
    const watcher = watchFiles([[folder, ['HEAD']]], () => (changes += 1));
    const control = watchFiles([[folder, ['last']]], () => (controls += 1));
    // Events arrive in order, so the earlier ones have arrived when this one has.
    const eventsArrived = () => {
      const before = controls;
      renameSync(path.join(folder, 'next'), path.join(folder, 'last'));
      return until('the last file', async () => controls > before);
    };
    write('other');
    write('next');
    await eventsArrived();
    assert.equal(changes, 0);
    for (const change of [
      () => write('HEAD'),
      () => write('HEAD'),
      () => renameSync(path.join(folder, 'HEAD.lock'), path.join(folder, 'HEAD')),
    ]) {
      write('HEAD.lock');
      write('next');
      const before = changes;
      change();
      await eventsArrived();
      assert.notEqual(changes, before);
    }
    const seen = changes;
    watcher.dispose();
    write('HEAD');
    write('next');
    await eventsArrived();
    control.dispose();
    assert.equal(changes, seen);
  });

  it('ignores a folder that does not exist', () => {
    const missing = path.join(folder, 'missing');
    watchFiles([[missing, ['HEAD']]], () => assert.fail('changed')).dispose();
  });
});
