// Run by `npm version`, after it has written the version to package.json and before it commits: makes the section of CHANGELOG.md
// for that version from the notes in .changes, and deletes them.
import { readFile, rm, writeFile } from 'node:fs/promises';
import manifest from '../../package.json' with { type: 'json' };
import { noteFiles, parseNote, withNotes } from './notes.ts';

const files = await noteFiles();
if (files.length === 0) throw new Error('There is no note in .changes');
const notes = await Promise.all(files.map(async (file) => parseNote(await readFile(file, 'utf8'))));
const today = new Date().toISOString().slice(0, 10);
const changelog = await readFile('CHANGELOG.md', 'utf8');
await writeFile('CHANGELOG.md', withNotes(changelog, notes, manifest.version, today));
for (const file of files) await rm(file);
