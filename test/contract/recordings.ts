/** The exchanges that services of this test process have recorded since they were last taken. */
import { chownSync, closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findNobody } from '../../src/service/privileges/unixAccount.ts';
import { recordExchanges, type Exchange } from './recorder.ts';

let isOn = false;
let folder: string | undefined;
const files: { readonly name: string; offset: number }[] = [];
const ports = new Set<number>();
const inProcess: Exchange[] = [];

/** Services that start from now on record. */
export function startRecording(): void {
  isOn = true;
}

/** Returns a new file for the exchanges of a service in its own process; undefined if nothing is recorded. */
export function recordingFile(): string | undefined {
  if (!isOn) return undefined;
  if (folder === undefined) {
    // Only this user can read it: requests and replies contain keys and passwords.
    const created = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-recorded-'));
    process.once('exit', () => rmSync(created, { recursive: true, force: true }));
    folder = created;
  }
  const name = path.join(folder, `${files.length}.jsonl`);
  closeSync(openSync(name, 'w', 0o600));
  // A service of root writes it after it became `nobody`.
  if (process.getuid?.() === 0)
    for (const each of [folder, name]) chownSync(each, findNobody().uid, findNobody().gid);
  files.push({ name, offset: 0 });
  return name;
}

/** For a service in this process. */
export function recordPort(port: number): void {
  if (!isOn) return;
  if (ports.size === 0)
    recordExchanges(
      (exchange) => void inProcess.push(exchange),
      (each) => ports.has(each),
    );
  ports.add(port);
}

/** Returns the exchanges since the last call. */
export function takeExchanges(): readonly Exchange[] {
  return [...inProcess.splice(0), ...files.flatMap(readNew)];
}

/** Leaves an unfinished last line, such as that of a killed service, for later. */
function readNew(file: (typeof files)[number]): Exchange[] {
  const bytes = readFrom(file);
  const end = bytes.lastIndexOf(10) + 1;
  file.offset += end;
  const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Exchange);
}

function readFrom({ name, offset }: (typeof files)[number]): Buffer {
  const descriptor = openSync(name, 'r');
  try {
    const bytes = Buffer.alloc(fstatSync(descriptor).size - offset);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(descriptor);
  }
}
