import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  findNeonFile,
  isFollowedByNeon,
  updateNeonFile,
} from '../../../../src/extension/gitBranch/neonFile.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';

const LINKED = { orgId: 'org-1', projectId: 'shop-1', branch: 'main' };
const change = { projectId: 'shop-1', gitBranch: 'one', branch: 'db-one', isCheckedOut: true };

describe('.neon', () => {
  let root: string;
  let folder: string;
  const write = (inside: string, content: unknown) => {
    mkdirSync(path.join(root, inside), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content, undefined, 2);
    writeFileSync(path.join(root, inside, '.neon'), text);
  };
  const read = (inside: string) => JSON.parse(readFileSync(path.join(root, inside, '.neon'), 'utf8'));

  beforeEach(() => {
    root = temporaryFolder();
    folder = path.join(root, 'home', 'repository', 'app');
    mkdirSync(folder, { recursive: true });
  });
  const find = () => findNeonFile(folder, path.join(root, 'home'));

  it('is found in the folder or above it, but not in the home folder', async () => {
    assert.equal(await find(), undefined);
    write('home', LINKED);
    assert.equal(await find(), undefined);
    write('home/repository', { ...LINKED, git: { map: { one: 'db-one' } } });
    const found = await find();
    assert.equal(found?.path, path.join(root, 'home', 'repository', '.neon'));
    assert.equal(found.projectId, 'shop-1');
    assert.deepEqual([found.branchOf('one'), found.branchOf('two')], ['db-one', undefined]);
    write('home/repository/app', { projectId: 'blog-2' });
    assert.equal((await find())?.projectId, 'blog-2');
  });

  it('hides those above it if it is not readable', async () => {
    write('home/repository', LINKED);
    write('home/repository/app', '{');
    assert.equal(await find(), undefined);
  });

  it('hides those above it if it is a FIFO or a link to a device that never ends', async function () {
    if (process.platform === 'win32') return this.skip();
    write('home/repository', LINKED);
    const file = path.join(folder, '.neon');
    for (const make of [() => symlinkSync('/dev/zero', file), () => execFileSync('mkfifo', [file])]) {
      make();
      assert.equal(await find(), undefined);
      rmSync(file);
    }
  });

  it('says whether the command line switches the branch, only in the root of the worktree', async () => {
    const isFollowed = () => isFollowedByNeon(folder);
    assert.equal(await isFollowed(), false);
    write('home/repository', { ...LINKED, git: { follow: true } });
    assert.equal(await isFollowed(), false);
    for (const [content, expected] of [
      [LINKED, false],
      [{ ...LINKED, git: { follow: false } }, false],
      [{ ...LINKED, git: { follow: true } }, true],
      ['{', false],
      ['null', false],
    ] as const) {
      write('home/repository/app', content);
      assert.equal(await isFollowed(), expected);
    }
  });

  /** @returns the text of the file after the change */
  const updated = async (text: string, made: Partial<typeof change> = {}) => {
    write('home/repository/app', text);
    await updateNeonFile(folder, folder, { ...change, ...made });
    return readFileSync(path.join(folder, '.neon'), 'utf8');
  };

  it('keeps other fields, the indent and the line ends', async () => {
    const cases: readonly (readonly [before: string, after: string])[] = [
      [
        '{\n\t"projectId": "shop-1",\n\t"more": 1,\n\t"branchId": "br-1"\n}\n',
        '{\n\t"projectId": "shop-1",\n\t"more": 1,\n\t"branch": "db-one"\n}\n',
      ],
      [
        '{"branch":"main","projectId":"shop-1","git":{"x":1,"map":{"two":"db-two"}}}',
        '{"branch":"db-one","projectId":"shop-1","git":{"x":1,"map":{"two":"db-two","one":"db-one"}}}',
      ],
      [
        '{"projectId":"shop-1","branch":"main","git":{"map":null}}',
        '{"projectId":"shop-1","branch":"db-one","git":{"map":null}}',
      ],
      [
        '{\r\n  "projectId": "shop-1",\r\n  "git": {}\r\n}\r\n',
        '{\r\n  "projectId": "shop-1",\r\n  "git": {},\r\n  "branch": "db-one"\r\n}\r\n',
      ],
    ];
    for (const [before, after] of cases) assert.equal(await updated(before), after);
  });

  it('keeps the branch that it works on if the git branch is not checked out', async () => {
    const context = { ...LINKED, branchId: 'br-1', git: { follow: true, map: {} } };
    const text = await updated(JSON.stringify(context), { isCheckedOut: false });
    const git = { follow: true, map: { one: 'db-one' } };
    assert.deepEqual(JSON.parse(text), { ...context, git });
  });

  it('is not changed for another project, or without need', async () => {
    for (const context of [
      { ...LINKED, projectId: 'blog-2' },
      {},
      [],
      { ...LINKED, branch: 'db-one', git: { map: { one: 'db-one' } } },
    ]) {
      const text = JSON.stringify(context, undefined, 2);
      assert.equal(await updated(text), text);
    }
  });

  it('is updated only inside the worktree, and never created or replaced if it is a link', async () => {
    const worktree = path.dirname(folder);
    write('home', LINKED);
    await updateNeonFile(folder, worktree, change);
    assert.deepEqual(read('home'), LINKED);
    symlinkSync(path.join(root, 'home', '.neon'), path.join(folder, '.neon'));
    await updateNeonFile(folder, worktree, change);
    assert.deepEqual(read('home'), LINKED);
    write('home/repository/app/inner', LINKED);
    await updateNeonFile(path.join(folder, 'inner'), worktree, change);
    assert.equal(read('home/repository/app/inner').branch, 'db-one');
  });
});
