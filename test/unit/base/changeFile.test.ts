import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { changeFile } from '../../../src/base/changeFile.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

const isWindows = process.platform === 'win32';

/** Sets one line `name=…`, as for a variable of an env file. */
const withLine = (before: Buffer | undefined, name: string): Buffer => {
  const text = before?.toString() ?? '';
  return Buffer.from(text.includes(`${name}=`) ? text : `${text}${name}=1\n`);
};

describe('changeFile', () => {
  let folder: string;
  let file: string;
  const text = () => readFileSync(file, 'utf8');
  const lines = () => text().trim().split('\n').toSorted();
  /** Sets a line, after `meanwhile` has run once between reading and replacing the file. */
  const change = (meanwhile: () => void, name = 'OWN') => {
    let count = 0;
    return changeFile(file, (before) => {
      if ((count += 1) === 1) meanwhile();
      return withLine(before, name);
    });
  };

  beforeEach(() => {
    folder = temporaryFolder();
    file = path.join(folder, '.env');
    writeFileSync(file, 'A=1\n');
  });
  afterEach(() => {
    assert.deepEqual(readdirSync(folder), ['.env']);
    rmSync(folder, { recursive: true });
  });

  it('returns what it has replaced, and keeps the permissions', async () => {
    if (!isWindows) chmodSync(file, 0o640);
    const { before, after } = (await changeFile(file, () => Buffer.from('B=1\n'), 0o600)) ?? {};
    assert.deepEqual([String(before), String(after), text()], ['A=1\n', 'B=1\n', 'B=1\n']);
    if (!isWindows) assert.equal(statSync(file).mode & 0o777, 0o640);
    rmSync(file);
    assert.equal((await changeFile(file, () => Buffer.from('C=1\n'), 0o600))?.before, undefined);
    if (!isWindows) assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('leaves a file that needs no change, and one that cannot be changed', async () => {
    const { ino } = statSync(file);
    assert.equal(await changeFile(file, () => undefined), undefined);
    assert.equal(await changeFile(file, (before) => before), undefined);
    const failed = changeFile(file, () => {
      throw new Error('not this one');
    });
    await assert.rejects(failed, /not this one/);
    chmodSync(file, 0o444);
    await assert.rejects(
      changeFile(file, () => Buffer.from('')),
      /is read-only/,
    );
    chmodSync(file, 0o644);
    assert.equal(statSync(file).ino, ino);
    writeFileSync(file, Buffer.alloc(1024 * 1024 + 1, 'a'));
    await assert.rejects(
      changeFile(file, () => Buffer.from('')),
      /too large/,
    );
    rmSync(file);
    mkdirSync(file);
    await assert.rejects(
      changeFile(file, () => Buffer.from('')),
      /isn't a file|EISDIR|EPERM/,
    );
  });

  it('makes changes of one file one after the other', async () => {
    const names = ['ONE', 'TWO', 'THREE', 'FOUR', 'FIVE'];
    await Promise.all(names.map((name) => changeFile(file, (before) => withLine(before, name))));
    assert.equal(text(), `A=1\n${names.map((name) => `${name}=1\n`).join('')}`);
  });

  it('keeps a line that another program appends before the file is replaced', async () => {
    await change(() => appendFileSync(file, 'OTHER=1\n'));
    assert.deepEqual(lines(), ['A=1', 'OTHER=1', 'OWN=1']);
  });

  it('keeps a line that is written to the replaced file, because it was opened before', async function () {
    if (isWindows) return this.skip(); // It replaces no open file.
    const other = await open(file, 'a');
    let calls = 0;
    const sync = mock.method(Object.getPrototypeOf(other), 'sync', async () => {
      // The file, and then its folder.
      if ((calls += 1) === 2) await other.appendFile('OTHER=1\n');
    });
    await change(() => undefined).finally(() => sync.mock.restore());
    await other.close();
    assert.equal(text(), 'A=1\nOWN=1\nOTHER=1\n');
  });

  it('keeps what another program writes over the old text', async () => {
    await change(() => writeFileSync(file, 'REWRITTEN=1\n'));
    assert.deepEqual(lines(), ['OWN=1', 'REWRITTEN=1']);
  });

  it('changes the file that another program has put in its place', async () => {
    await change(() => {
      writeFileSync(`${file}.other`, 'OTHER=1\n');
      renameSync(`${file}.other`, file);
    });
    assert.deepEqual(lines(), ['OTHER=1', 'OWN=1']);
    await change(() => rmSync(file), 'AGAIN');
    assert.deepEqual(lines(), ['AGAIN=1']);
  });

  it('overwrites a file that is replaced again and again only once it is not', async () => {
    let count = 0;
    const failed = changeFile(file, (before) => {
      writeFileSync(`${file}.other`, `${(count += 1)}\n`);
      renameSync(`${file}.other`, file);
      return withLine(before, 'OWN');
    });
    await assert.rejects(failed, /keeps changing/);
    assert.equal(text(), '100\n');
  });

  describe('while other processes write it', () => {
    const module = pathToFileURL(path.join(import.meta.dirname, '../../../src/base/changeFile.ts')).href;
    /** @returns what the code prints */
    const run = async (code: string) => {
      const source = `import fs from 'node:fs'; const file = ${JSON.stringify(file)}; ${code}`;
      const args = ['--input-type=module', '--eval', source];
      return (await promisify(execFile)(process.execPath, args)).stdout;
    };
    /** Adds twenty lines, one at a time. */
    const addLines = (name: string) =>
      run(`const { changeFile } = await import(${JSON.stringify(module)});
        for (let i = 1; i <= 20; i += 1)
          await changeFile(file, (text) =>
            text.includes('${name}_' + i + '=') ? text : Buffer.concat([text, Buffer.from('${name}_' + i + '=1\\n')]));`);
    const names = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${name}_${index + 1}=1`);

    it('loses no line that one of them appends', async () => {
      const stop = path.join(temporaryFolder(), 'stop');
      const appended = run(`let count = 0;
        while (!fs.existsSync(${JSON.stringify(stop)})) {
          fs.appendFileSync(file, 'APPENDED_' + (count += 1) + '=1\\n');
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
        }
        process.stdout.write(String(count));`);
      await addLines('ONE').finally(() => writeFileSync(stop, ''));
      const expected = ['A=1', ...names('ONE', 20), ...names('APPENDED', Number(await appended))];
      assert.deepEqual(lines(), expected.toSorted());
    });

    it('makes all their changes', async () => {
      await Promise.all(['ONE', 'TWO', 'THREE'].map(addLines));
      const expected = ['A=1', ...names('ONE', 20), ...names('TWO', 20), ...names('THREE', 20)];
      assert.deepEqual(lines(), expected.toSorted());
    });
  });
});
