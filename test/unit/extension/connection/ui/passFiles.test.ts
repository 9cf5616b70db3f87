import { fakeTerminals } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../../../helpers/localService.ts';

const { removeAbandonedPassFiles } =
  await import('../../../../../src/extension/connection/ui/abandonedPassFiles.ts');
const { PassFiles } = await import('../../../../../src/extension/connection/ui/passFiles.ts');

/** No process can have it: the highest one on Linux is 4194304. */
const NO_PID = 4_194_305;

describe('PassFiles', () => {
  let storage: string;
  let files: InstanceType<typeof PassFiles>;

  beforeEach(() => {
    storage = temporaryFolder();
    files = new PassFiles({ fsPath: storage });
  });
  afterEach(() => files.dispose());

  const open = (line: string) => {
    files.openTerminal({ name: 'psql', env: { LANG: 'C' } }, line);
    return fakeTerminals.opened.at(-1);
  };

  it('gives a terminal the path of a file that only the user can read', () => {
    const terminal = open('secret\n');
    const file = terminal?.env?.['PGPASSFILE'] ?? '';
    assert.equal(terminal?.env?.['LANG'], 'C');
    assert.equal(readFileSync(file, 'utf8'), 'secret\n');
    assert.doesNotMatch(JSON.stringify(terminal), /secret/);
    if (process.platform === 'win32') return;
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
  });

  it('removes the file when its terminal closes', () => {
    const first = open('first\n');
    open('second\n');
    fakeTerminals.close(first);
    const [left, ...others] = readdirSync(storage);
    assert.deepEqual(others, []);
    assert.equal(readFileSync(path.join(storage, left ?? '', 'pgpass'), 'utf8'), 'second\n');
  });

  it('removes all files and its listener when the window ends', () => {
    // Terminals of other suites in this process may be followed, too.
    const before = fakeTerminals.listeners.size;
    open('first\n');
    open('second\n');
    files.dispose();
    assert.deepEqual(readdirSync(storage), []);
    assert.equal(fakeTerminals.listeners.size, before);
  });
});

describe('removeAbandonedPassFiles', () => {
  it('removes what a killed window left, and nothing else', async () => {
    const storage = temporaryFolder();
    const others = [`psql-${process.pid}-mine`, 'keyRotations', 'psql-notes'];
    for (const name of [`psql-${NO_PID}-left`, ...others]) mkdirSync(path.join(storage, name));
    await removeAbandonedPassFiles({ fsPath: storage });
    assert.deepEqual(readdirSync(storage).toSorted(), others.toSorted());
  });

  it('does nothing in a window without files', () =>
    removeAbandonedPassFiles({ fsPath: path.join(temporaryFolder(), 'none') }));
});
