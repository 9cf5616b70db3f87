/** What the service removes and moves at its start, by files alone. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { openStorage, removeUnrecorded } from '../../../../../src/service/postgres/storage/storage.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

const NOTHING = { branches: [], withData: [], formerBranches: [], computes: [] };

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
  const clean = async () => removeUnrecorded(openStorage(root), NOTHING, (line) => log.push(line));

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
