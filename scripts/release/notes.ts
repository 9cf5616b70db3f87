/** The notes of changes in `.changes`, and the section of CHANGELOG.md that a release makes of them. */

import { readdir } from 'node:fs/promises';
import path from 'node:path';

const FOLDER = '.changes';
/** The headings of CHANGELOG.md, in its order, by the kind of a note. */
const HEADINGS: Readonly<Record<string, string>> = {
  Add: 'Added',
  Change: 'Changed',
  Remove: 'Removed',
  Fix: 'Fixed',
};
/** In the order of CHANGELOG.md. */
const PARTS = [
  'View, commands and connections',
  'Git branches and env files',
  'Agents',
  'npx and tests',
  'Local service',
];
const MAX_LINES = 2;
const MAX_LINE_LENGTH = 130;

export interface Note {
  readonly kind: string;
  readonly part: string;
  /** Without the kind and the part. */
  readonly text: string;
}

/** The files with notes, by their paths from the root of the project, where this must run. */
export async function noteFiles(): Promise<string[]> {
  const names = await readdir(FOLDER);
  return names
    .filter((name) => name !== 'README.md')
    .sort()
    .map((name) => path.posix.join(FOLDER, name));
}

/** @throws if the note hasn't the form that `.changes/README.md` describes */
export function parseNote(content: string): Note {
  const lines = content.trim().split('\n');
  if (lines.length > MAX_LINES || lines.some((line) => line.length > MAX_LINE_LENGTH))
    throw new Error(`A note has at most ${MAX_LINES} lines of at most ${MAX_LINE_LENGTH} characters`);
  const [, kind = '', part = '', text = ''] = /^(\w+) \(([^)]*)\): (.*\.)$/s.exec(content.trim()) ?? [];
  if (text === '') throw new Error('A note begins as "Fix (Agents): " and ends with a period');
  if (!Object.hasOwn(HEADINGS, kind)) throw new Error(`The kind is ${Object.keys(HEADINGS).join(', ')}`);
  if (!PARTS.includes(part)) throw new Error(`The part is ${PARTS.join(' | ')}`);
  return { kind, part, text };
}

/** @returns the changelog with the notes as its first section */
export function withNotes(changelog: string, notes: readonly Note[], version: string, date: string): string {
  const groups = Object.entries(HEADINGS).flatMap(([kind, heading]) => {
    const parts = PARTS.flatMap((part) => {
      const texts = notes.filter((note) => note.kind === kind && note.part === part);
      const bullets = texts.map(({ text }) => `- ${text.replaceAll('\n', '\n  ')}`);
      return bullets.length === 0 ? [] : [`**${part}**`, bullets.join('\n')];
    });
    return parts.length === 0 ? [] : [`### ${heading}`, ...parts];
  });
  const section = [`## [${version}] (${date})`, ...groups].join('\n\n');
  // Before the first section, which the changelog has.
  return changelog.replace(/^## /m, () => `${section}\n\n## `);
}
