import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findProgram } from '../../../src/base/findProgram.ts';

describe('findProgram', () => {
  const before = process.env['PATH'];
  let root: string;
  const file = (folder: string) =>
    path.join(root, folder, process.platform === 'win32' ? 'tool.exe' : 'tool');

  beforeEach(() => {
    root = mkdtempSync(path.join(os.tmpdir(), 'hosted-postgres-program-'));
    for (const folder of ['a', 'b']) {
      mkdirSync(path.join(root, folder));
      writeFileSync(file(folder), '', { mode: 0o755 });
    }
    process.env['PATH'] = ['a', 'b'].map((folder) => path.join(root, folder)).join(path.delimiter);
  });
  afterEach(() => {
    process.env['PATH'] = before;
    rmSync(root, { recursive: true });
  });

  it('returns the first match in PATH', () => {
    assert.equal(findProgram('tool'), file('a'));
  });

  it('searches the given folders before PATH', () => {
    assert.equal(findProgram('tool', [path.join(root, 'missing'), path.join(root, 'b')]), file('b'));
  });

  it('skips files that are not executable', function () {
    if (process.platform === 'win32') this.skip();
    chmodSync(file('a'), 0o644);
    assert.equal(findProgram('tool'), file('b'));
  });

  it('skips relative folders', () => {
    process.env['PATH'] = path.relative(process.cwd(), path.join(root, 'a'));
    assert.equal(findProgram('tool'), undefined);
  });

  it('returns undefined if there is no such program', () => {
    assert.equal(findProgram('other'), undefined);
  });
});
