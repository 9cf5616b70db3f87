/** What the service removes and moves at its start, by files alone. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RecordedIds } from '../../../../../src/service/core/recordedIds.ts';
import { openStorage, removeUnrecorded } from '../../../../../src/service/postgres/storage/storage.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

const NOTHING: RecordedIds = { branches: [], formerBranches: [], computes: [] };

describe('removeUnrecorded', () => {
  let root: string;
  let log: string[];
  const namesIn = (folder: string) => readdirSync(path.join(root, folder)).toSorted();
  /** Creates a folder with data, which is the text. */
  const addData = (folder: string, text: string) => {
    const data = path.join(root, folder, 'data');
    mkdirSync(data, { recursive: true });
    writeFileSync(path.join(data, 'PG_VERSION'), text);
  };
  const dataOf = (folder: string) => readFileSync(path.join(root, folder, 'data/PG_VERSION'), 'utf8');
  const clean = async (recorded = NOTHING) => {
    const storage = openStorage(root);
    await removeUnrecorded(storage, recorded, (line) => log.push(line));
    return storage;
  };

  beforeEach(() => {
    root = temporaryFolder();
    log = [];
  });

  it('moves a branch to the plain name each time, and goes on', async () => {
    for (const text of ['first', 'second', 'third']) {
      addData('branches/br-x', text);
      addData('branches/br-y.new', '18');
      await clean();
      assert.deepEqual(namesIn('branches'), []);
      assert.equal(dataOf('unrecorded/br-x'), text);
    }
    assert.deepEqual(namesIn('unrecorded'), ['br-x', 'br-x.2', 'br-x.3']);
    assert.deepEqual([dataOf('unrecorded/br-x.2'), dataOf('unrecorded/br-x.3')], ['first', 'second']);
    assert.match(log[1] ?? '', /no branch br-x, .*unrecorded.br-x\. .* is in .*unrecorded.br-x\.2 now\./);
  });

  it('moves a branch back that is recorded again, but not over other data', async () => {
    addData('branches/br-x', 'moved');
    await clean();
    const recorded = { ...NOTHING, branches: ['br-x'] };
    await clean(recorded);
    assert.deepEqual([dataOf('branches/br-x'), namesIn('unrecorded')], ['moved', []]);
    assert.match(log[1] ?? '', /has branch br-x again, so its data was moved back from .*unrecorded.br-x/);
    addData('unrecorded/br-x', 'other');
    await clean(recorded);
    assert.deepEqual([dataOf('branches/br-x'), dataOf('unrecorded/br-x')], ['moved', 'other']);
  });

  it('records the data of an earlier version, until the branch is deleted', async () => {
    addData('branches/br-x', '18');
    mkdirSync(path.join(root, 'branches/br-y'));
    const storage = await clean({ ...NOTHING, branches: ['br-x', 'br-y'] });
    assert.deepEqual(
      ['br-x', 'br-y'].map((id) => storage.hasHadData(id)),
      [true, false],
    );
    await clean({ ...NOTHING, formerBranches: ['br-x'] });
    assert(!storage.hasHadData('br-x'));
  });

  it('removes the rest if it cannot record what has data, as on a full disk', async () => {
    writeFileSync(path.join(root, 'branches-with-data'), 'not a folder');
    addData('branches/br-x', '18');
    addData('branches/br-y.new', '18');
    await clean({ ...NOTHING, branches: ['br-x'] });
    assert.deepEqual(namesIn('branches'), ['br-x']);
    assert.match(log[0] ?? '', /Couldn't record which branches have data: .*EEXIST/);
  });

  it('keeps a branch that it cannot move, and removes the rest', async () => {
    writeFileSync(path.join(root, 'unrecorded'), 'not a folder');
    addData('branches/br-x', 'kept');
    addData('branches/br-y.new', '18');
    await clean();
    assert.deepEqual(namesIn('branches'), ['br-x']);
    assert.equal(dataOf('branches/br-x'), 'kept');
    assert.match(log[0] ?? '', /no branch br-x\. Its data stays, because it couldn't be moved: .*EEXIST/);
  });
});
