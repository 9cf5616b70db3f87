import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { RecoveryRecordFiles } from '../../../src/extension/recoveryRecords.ts';

describe('RecoveryRecordFiles', () => {
  let fsPath: string;
  beforeEach(() => (fsPath = mkdtempSync(path.join(tmpdir(), 'records-'))));
  afterEach(() => rmSync(fsPath, { recursive: true }));

  it('stores records for other windows until they are deleted', async () => {
    const [records, other] = [
      new RecoveryRecordFiles({ fsPath }, 'some'),
      new RecoveryRecordFiles({ fsPath }, 'some'),
    ];
    assert.deepEqual(records.all(), []);
    await records.set('a/../b', { name: 'one' });
    await records.set('a/../b', { name: 'two' });
    assert.deepEqual(other.all(), [{ name: 'two' }]);
    other.delete('a/../b');
    assert.deepEqual(records.all(), []);
  });

  it('keeps the old record until the new one is complete', async () => {
    const records = new RecoveryRecordFiles({ fsPath }, 'some');
    await records.set('a', { name: 'one' });
    const [name = ''] = readdirSync(path.join(fsPath, 'some'));
    const file = path.join(fsPath, 'some', name);
    const { ino } = statSync(file, { bigint: true });
    await records.set('a', { name: 'two' });
    // Another file has taken its place: the old one was not overwritten.
    assert.notEqual(statSync(file, { bigint: true }).ino, ino);
  });

  it('ignores what a killed window left behind, and a damaged file', async () => {
    const records = new RecoveryRecordFiles({ fsPath }, 'some');
    await records.set('a', {});
    const [file = ''] = readdirSync(path.join(fsPath, 'some'));
    writeFileSync(path.join(fsPath, 'some', `${file}.0123`), '{"name":"unfinished"}');
    assert.deepEqual(records.all(), [{}]);
    writeFileSync(path.join(fsPath, 'some', file), '{');
    assert.deepEqual(records.all(), []);
  });
});
