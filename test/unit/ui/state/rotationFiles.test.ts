import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { RotationFiles } from '../../../../src/ui/state/rotationFiles.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

describe('RotationFiles', () => {
  let storage: { readonly fsPath: string };
  let folder: string;
  beforeEach(() => {
    storage = { fsPath: path.join(temporaryFolder(), 'storage') };
    folder = path.join(storage.fsPath, 'keyRotations');
  });

  const rotations = (files: RotationFiles) => files.all().map(({ rotation }) => rotation);
  const onlyFile = () => path.join(folder, readdirSync(folder)[0] ?? '');

  it('returns what any window has written, at once', async () => {
    const [one, other] = [new RotationFiles(storage), new RotationFiles(storage)];
    assert.deepEqual(one.all(), []);
    assert.equal(await one.create('a', { name: 'one' }), true);
    assert.deepEqual(rotations(other), [{ name: 'one' }]);
    if (process.platform !== 'win32') assert.equal(statSync(onlyFile()).mode & 0o777, 0o600);
    await other.remove('a');
    assert.deepEqual(one.all(), []);
    assert.equal(one.isEmpty, true);
  });

  it('creates the record of an account once, whichever window is first', async () => {
    const [one, other] = [new RotationFiles(storage), new RotationFiles(storage)];
    const created = await Promise.all([one.create('a', { name: 'one' }), other.create('a', { name: 'two' })]);
    assert.deepEqual(created, [true, false]);
    assert.deepEqual(rotations(other), [{ name: 'one' }]);
    assert.equal(await other.create('https://b.test/#x', { name: 'three' }), true);
  });

  it('shows with each touch that a window is alive, and touches nothing that was removed', async () => {
    const files = new RotationFiles(storage);
    await files.create('a', { name: 'one' });
    utimesSync(onlyFile(), 1, 1);
    const before = files.all()[0]?.beat;
    await files.touch('a');
    assert.notEqual(files.all()[0]?.beat, before);
    await files.remove('a');
    await assert.rejects(files.touch('a'));
    assert.equal(files.isEmpty, true);
  });

  it('ignores a damaged file, and replaces one that is not being written any more', async () => {
    const files = new RotationFiles(storage);
    await files.create('a', { name: 'one' });
    writeFileSync(onlyFile(), '{"a":');
    assert.deepEqual(files.all(), []);
    assert.equal(await files.create('a', { name: 'two' }), false);
    utimesSync(onlyFile(), 1, 1);
    assert.equal(await files.create('a', { name: 'two' }), true);
    assert.deepEqual(rotations(files), [{ name: 'two' }]);
  });

  it('rejects when the file cannot be written', async () => {
    mkdirSync(storage.fsPath);
    writeFileSync(folder, '');
    await assert.rejects(new RotationFiles(storage).create('a', { name: 'one' }));
    assert.equal(existsSync(folder), true);
  });
});
