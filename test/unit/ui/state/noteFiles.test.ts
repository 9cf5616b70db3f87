import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NoteFiles } from '../../../../src/ui/state/noteFiles.ts';

describe('NoteFiles', () => {
  let fsPath: string;
  beforeEach(() => (fsPath = mkdtempSync(path.join(tmpdir(), 'notes-'))));
  afterEach(() => rmSync(fsPath, { recursive: true }));

  it('stores notes for other windows until they are deleted', () => {
    const [notes, other] = [new NoteFiles({ fsPath }, 'some'), new NoteFiles({ fsPath }, 'some')];
    assert.deepEqual(notes.all(), []);
    notes.set('a/../b', { name: 'one' });
    notes.set('a/../b', { name: 'two' });
    assert.deepEqual(other.all(), [{ name: 'two' }]);
    other.delete('a/../b');
    assert.deepEqual(notes.all(), []);
  });

  it('ignores a damaged file', () => {
    const notes = new NoteFiles({ fsPath }, 'some');
    notes.set('a', {});
    const folder = path.join(fsPath, 'some');
    for (const file of readdirSync(folder)) writeFileSync(path.join(folder, file), '{');
    assert.deepEqual(notes.all(), []);
  });
});
