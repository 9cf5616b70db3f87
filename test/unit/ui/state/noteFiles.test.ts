import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NoteFiles } from '../../../../src/ui/state/noteFiles.ts';

describe('NoteFiles', () => {
  let fsPath: string;
  beforeEach(() => (fsPath = mkdtempSync(path.join(tmpdir(), 'notes-'))));
  afterEach(() => rmSync(fsPath, { recursive: true }));

  it('stores notes for other windows until they are deleted', async () => {
    const [notes, other] = [new NoteFiles({ fsPath }, 'some'), new NoteFiles({ fsPath }, 'some')];
    assert.deepEqual(notes.all(), []);
    await notes.set('a/../b', { name: 'one' });
    await notes.set('a/../b', { name: 'two' });
    assert.deepEqual(other.all(), [{ name: 'two' }]);
    other.delete('a/../b');
    assert.deepEqual(notes.all(), []);
  });

  it('keeps the old note until the new one is complete', async () => {
    const notes = new NoteFiles({ fsPath }, 'some');
    await notes.set('a', { name: 'one' });
    const [name = ''] = readdirSync(path.join(fsPath, 'some'));
    const file = path.join(fsPath, 'some', name);
    const { ino } = statSync(file, { bigint: true });
    await notes.set('a', { name: 'two' });
    // Another file has taken its place: the old one was not overwritten.
    assert.notEqual(statSync(file, { bigint: true }).ino, ino);
  });

  it('ignores what a killed window left behind, and a damaged file', async () => {
    const notes = new NoteFiles({ fsPath }, 'some');
    await notes.set('a', {});
    const [file = ''] = readdirSync(path.join(fsPath, 'some'));
    writeFileSync(path.join(fsPath, 'some', `${file}.0123`), '{"name":"unfinished"}');
    assert.deepEqual(notes.all(), [{}]);
    writeFileSync(path.join(fsPath, 'some', file), '{');
    assert.deepEqual(notes.all(), []);
  });
});
