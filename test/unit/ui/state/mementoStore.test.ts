import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileStore } from '../../../../src/ui/state/mementoStore.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('fileStore', () => {
  let file: string;
  beforeEach(() => {
    file = path.join(temporaryFolder(), 'folder', 'value.json');
  });

  it('returns what any window has written, immediately', async () => {
    const [one, other] = [fileStore(file), fileStore(file)];
    assert.equal(one.get(''), undefined);
    await one.update('', { a: 1 });
    assert.deepEqual(other.get(''), { a: 1 });
    await other.update('', { b: 2 });
    assert.deepEqual(one.get(''), { b: 2 });
    assert.deepEqual(readdirSync(path.dirname(file)), ['value.json']);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('leaves no file without a value', async () => {
    const store = fileStore(file);
    await store.update('', undefined);
    await store.update('', { a: 1 });
    await store.update('', undefined);
    assert.equal(existsSync(file), false);
  });

  it('returns nothing from a damaged file, and replaces it', async () => {
    const store = fileStore(file);
    await store.update('', { a: 1 });
    writeFileSync(file, '{"a":');
    assert.equal(store.get(''), undefined);
    await store.update('', { a: 2 });
    assert.deepEqual(store.get(''), { a: 2 });
  });

  it('rejects when the file cannot be written', async () => {
    writeFileSync(path.dirname(file), '');
    await assert.rejects(fileStore(file).update('', { a: 1 }));
  });
});
