import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileMemory } from '../../../../src/ui/state/mementoStore.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('fileMemory', () => {
  let file: string;
  beforeEach(() => {
    file = path.join(temporaryFolder(), 'folder', 'value.json');
  });

  it('returns what any window has written, at once', async () => {
    const [one, other] = [fileMemory(file), fileMemory(file)];
    assert.equal(one.get(''), undefined);
    await one.update('', { a: 1 });
    assert.deepEqual(other.get(''), { a: 1 });
    await other.update('', { b: 2 });
    assert.deepEqual(one.get(''), { b: 2 });
    assert.deepEqual(readdirSync(path.dirname(file)), ['value.json']);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('leaves no file without a value', async () => {
    const memory = fileMemory(file);
    await memory.update('', undefined);
    await memory.update('', { a: 1 });
    await memory.update('', undefined);
    assert.equal(existsSync(file), false);
  });

  it('returns nothing from a damaged file, and replaces it', async () => {
    const memory = fileMemory(file);
    await memory.update('', { a: 1 });
    writeFileSync(file, '{"a":');
    assert.equal(memory.get(''), undefined);
    await memory.update('', { a: 2 });
    assert.deepEqual(memory.get(''), { a: 2 });
  });

  it('rejects when the file cannot be written', async () => {
    writeFileSync(path.dirname(file), '');
    await assert.rejects(fileMemory(file).update('', { a: 1 }));
  });
});
