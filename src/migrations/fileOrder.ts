/** The order in which the files of a folder run, and which of them undo others. */
import path from 'node:path';
import { readChosenFile } from '../base/files.ts';
import type { FolderRules } from './migrationTools.ts';
import type { CreateRefusal } from './refusal.ts';

const FLYWAY_NAME = /^(?:([VUB])(\d+(?:[._]\d+)*)|(R))__.+\.sql$/;
export const isFlywayName = (name: string): boolean => FLYWAY_NAME.test(path.posix.basename(name));

/** Sorts files as the folder's tool runs them. @throws {Error} if the order isn't certain */
export async function sortFiles(
  folder: string,
  names: readonly string[],
  rules: FolderRules,
  refuse: CreateRefusal,
): Promise<string[]> {
  if (rules.order === 'journal') return journalOrder(folder);
  if (rules.order === 'version') return versionOrder(folder, names, refuse);
  const folders = new Set(names.map((name) => path.posix.dirname(name)));
  const depths = new Set(names.map((name) => name.split('/').length));
  const areNumbered =
    rules.names !== undefined || [...folders].every((each) => /^(?:.*\/)?v?\d[^/]*$/i.test(each));
  const skipped = names.find((name) => rules.names?.test(name) === false);
  if (skipped !== undefined) throw refuse(folder, `has ${skipped}, whose name isn't one of the tool's`);
  if (depths.size > 1 || (folders.size > 1 && !areNumbered))
    throw refuse(
      folder,
      `has .sql files in several folders, whose order isn't known: ${[...folders].toSorted().join(', ')}`,
    );
  if (rules.order === 'text') return names.toSorted(compareText);
  if (rules.names !== undefined) requireUniqueNumbers(folder, names, rules, refuse);
  return names.toSorted((a, b) => compareText(sortKey(a), sortKey(b)));
}

/** @throws {Error} if the numbers don't give the tool's order */
function requireUniqueNumbers(
  folder: string,
  names: readonly string[],
  rules: FolderRules,
  refuse: CreateRefusal,
): void {
  const dates = names.filter((name) => /^\d{17}\D/.test(name));
  if (rules.datesOf17Digits === true && dates.length > 0 && dates.length < names.length)
    throw refuse(
      folder,
      `has names with 17 digits, such as ${dates[0]}, and others, whose order isn't that of the numbers`,
    );
  const numbers = new Map<bigint, string>();
  for (const name of names) {
    const number = BigInt(/\d+/.exec(name)?.[0] ?? 0);
    const other = numbers.get(number);
    if (other !== undefined) throw refuse(folder, `has ${other} and ${name}, which have the same number`);
    numbers.set(number, name);
  }
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Returns text that sorts by the numbers in it. */
const sortKey = (name: string): string =>
  name.replaceAll(/\d+/g, (digits) => digits.replace(/^0+/, '').padStart(20, '0'));

async function journalOrder(folder: string): Promise<string[]> {
  const file = path.join(folder, 'meta/_journal.json');
  const { entries }: { entries: readonly { readonly tag: string }[] } = JSON.parse(
    (await readChosenFile(file)).toString(),
  );
  return entries.map(({ tag }) => `${tag}.sql`);
}

/** Returns Flyway's order: by version, then the files that it repeats, by description. */
function versionOrder(folder: string, names: readonly string[], refuse: CreateRefusal): string[] {
  const keys = new Map<string, string>();
  const undo = new Map<string, string>();
  for (const name of names) {
    const [match, kind, version = ''] = FLYWAY_NAME.exec(path.posix.basename(name)) ?? [];
    if (match === undefined || kind === 'B')
      throw refuse(folder, `has ${name}, whose place in Flyway's order isn't known`);
    const key = kind ? `1${sortKey(version.replaceAll('_', '.'))}` : `2${match}`;
    if (kind === 'U') undo.set(name, key);
    else keys.set(name, key);
  }
  const versions = new Set(keys.values());
  // A file that undoes nothing is a migration of another tool, refinery.
  const alone = [...undo].find(([, key]) => !versions.has(key));
  if (alone !== undefined) throw refuse(folder, `has ${alone[0]}, which undoes no other file`);
  return [...keys].toSorted(([, a], [, b]) => compareText(a, b)).map(([name]) => name);
}

/** The word in a file's name that says what the file does. The rest of the name (`start`, `end`) is the same in both files of a pair. */
const DIRECTIONS = [
  // Matches names such as `1_a.up.sql`, `1-a-up.sql` and `1_a/up.sql`.
  /^(?<start>.*[._/-]|)(?<word>up|down|undo|rollback|revert)(?<end>\.sql)$/i,
  // Matches names such as `001.do.sql` and `001.undo.a.sql`, whose descriptions can differ.
  /^(?<start>.+\.)(?<word>do|undo)\..*$/i,
  // Matches names such as `up/1.sql` and `deploy/1.sql`.
  /^(?<start>.*\/|)(?<word>up|deploy|down|undo|rollback|revert|verify)(?<end>\/.+)$/i,
];

interface Directions {
  readonly forward: readonly string[];
  readonly undo: readonly string[];
  /** Whether all names say what their files do. */
  readonly areDirected: boolean;
}

/**
 * @throws {Error} if some files undo others, and another's name doesn't say what it does, or one of them belongs to no other file
 */
export function splitDirections(folder: string, names: readonly string[], refuse: CreateRefusal): Directions {
  const files = names.map((name) => {
    const match = DIRECTIONS.map((each) => each.exec(name)).find(Boolean);
    const { start = '', word = '', end = '' } = match?.groups ?? {};
    return { name, pair: `${start}*${end}`, word: word.toLowerCase() };
  });
  const isForward = (word: string): boolean => ['up', 'do', 'deploy'].includes(word);
  const back = files.filter(({ word }) => word !== '' && !isForward(word));
  const areDirected = files.every(({ word }) => word !== '');
  if (back.length === 0) return { forward: names, undo: [], areDirected };
  const forward = files.filter(({ word }) => isForward(word));
  const pairs = new Set(forward.map(({ pair }) => pair));
  const unclear = files.find(({ word }) => word === '') ?? back.find(({ pair }) => !pairs.has(pair));
  if (unclear !== undefined)
    throw refuse(folder, `has files that undo others, and ${unclear.name}, which isn't one of a pair`);
  const fileName = ({ name }: { readonly name: string }): string => name;
  return { forward: forward.map(fileName), undo: back.map(fileName), areDirected };
}
