/**
 * Stores the account as one file, which every write replaces as a whole: a line with the format and a checksum of the rest, then
 * one line of JSON for each record.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { systemReason } from '../../base/systemReason.ts';
import { unusableStartError, StartError } from '../core/serviceErrors.ts';
import type { Mutation } from './storedRecords.ts';

/** The format of the file. Increase it when older versions of the service couldn't read the file. */
const FORMAT = 4;
/** The oldest format that is read. It has no snapshots, but is otherwise the same. */
const OLDEST_FORMAT = 3;

/** The JSON of the mutation that sets each record. Records are immutable, so the JSON never changes. */
const jsonOfSettingRecord = new WeakMap<object, string>();

function cachedJson(mutation: Mutation): string {
  if (!('set' in mutation)) return JSON.stringify(mutation);
  const known = jsonOfSettingRecord.get(mutation.value);
  const json = known ?? JSON.stringify(mutation);
  if (known === undefined) jsonOfSettingRecord.set(mutation.value, json);
  return json;
}

const checksum = (lines: string): string => createHash('sha256').update(lines).digest('hex');

export function encodeAccount(mutations: Iterable<Mutation>): string {
  let lines = '';
  for (const mutation of mutations) lines += `${cachedJson(mutation)}\n`;
  return `${JSON.stringify({ format: FORMAT, sha256: checksum(lines) })}\n${lines}`;
}

/** Returns undefined if there is no file yet. @throws {StartError} if the file is damaged or has a newer format */
export function readAccountFile(file: string): readonly Mutation[] | undefined {
  const text = readIfPresent(file);
  if (text === undefined) return undefined;
  const end = text.indexOf('\n') + 1;
  const { format, sha256 } = parseHeader(text.slice(0, end));
  if (typeof format === 'number' && format > FORMAT)
    throw new StartError(
      'newerFormat',
      `${file} was written by a newer version of this service (format ${format}; this version reads ${FORMAT}). Use that version.`,
    );
  const lines = text.slice(end);
  if (typeof format !== 'number' || format < OLDEST_FORMAT || sha256 !== checksum(lines))
    throw new StartError(
      'corrupt',
      `${file} is damaged: its checksum is wrong. It was not changed. Restore it from a backup.`,
    );
  // The checksum proves that this program wrote these lines.
  return lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Mutation]));
}

function parseHeader(line: string): { readonly format?: unknown; readonly sha256?: unknown } {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {}; // The line is damaged.
  }
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = systemReason(error);
    if (reason === 'ENOENT') return undefined;
    throw unusableStartError(`Cannot read ${file}: ${reason}`);
  }
}
