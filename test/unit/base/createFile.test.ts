import assert from 'node:assert/strict';
import fs, { readdirSync, readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { createFileSync } from '../../../src/base/replaceFile.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

describe('createFileSync', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, 'file');
  });

  it('creates a file that only this user can read, and keeps one that exists', () => {
    assert.equal(createFileSync(file, 'first'), true);
    assert.equal(createFileSync(file, 'second'), false);
    assert.equal(readFileSync(file, 'utf8'), 'first');
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['file']);
  });

  it('creates the file only once on a file system without hard links', () => {
    mock.method(fs, 'linkSync', () => {
      throw Object.assign(new Error('EPERM: link'), { code: 'EPERM' });
    });
    syncBuiltinESMExports();
    try {
      assert.equal(createFileSync(file, 'first'), true);
      assert.equal(createFileSync(file, 'second'), false);
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.equal(readFileSync(file, 'utf8'), 'first');
    assert.deepEqual(readdirSync(folder), ['file']);
  });

  it('throws if the folder does not exist', () =>
    assert.throws(() => createFileSync(path.join(file, 'file'), ''), { code: 'ENOENT', syscall: 'open' }));
});
