import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Uri } from 'vscode';
import { temporaryFolder } from '../../../../helpers/localService.ts';

const { changeTextFile } = await import('../../../../../src/extension/envFile/ui/fileChange.ts');

describe('changeTextFile', () => {
  it('keeps the file on a full disk', async function () {
    const folder = temporaryFolder();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
    if (mounted.status !== 0) return this.skip(); // Only root may mount.
    let other: NodeJS.Immediate | undefined;
    try {
      const file = path.join(folder, '.env');
      const text = 'A=1\n'.repeat(1024);
      writeFileSync(file, text);
      const fill = () => appendFileSync(path.join(folder, 'other'), Buffer.alloc(100_000));
      assert.throws(fill, /ENOSPC/);
      // Another program takes what becomes free.
      other = setImmediate(function refill() {
        assert.throws(fill, /ENOSPC/);
        other = setImmediate(refill);
      });
      const uri = { scheme: 'file', fsPath: file } as Uri;
      await assert.rejects(
        changeTextFile(uri, (before) => `${before}B=2\n`),
        /ENOSPC/,
      );
      assert.equal(readFileSync(file, 'utf8'), text);
      assert.deepEqual(readdirSync(folder), ['.env', 'other']);
    } finally {
      clearImmediate(other);
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true });
    }
  });
});
