/** What is in the packages. `npm run package` checks the same, for every platform. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { stage } from '../../scripts/bench/staging.ts';
import { builtPackage } from '../../scripts/package/createPackage.ts';
import { readPackage, runChecks } from '../../scripts/package/checkPackage.ts';
import { packageName } from '../../scripts/package/targets.ts';

describe('the packages', () => {
  for (const target of [undefined, 'linux-x64'] as const) {
    it(`pass every check: ${target ?? 'the universal one'}`, async () => {
      const checked = runChecks(await readPackage(await builtPackage(target), target));
      const failed = [...checked].filter(([, problems]) => problems.length > 0);
      assert.deepEqual(failed, []);
    });
  }

  it('fail the checks under the name of another platform', async () => {
    const checked = runChecks(await readPackage(await builtPackage('linux-x64'), 'linux-arm64'));
    const failed = [...checked].filter(([, problems]) => problems.length > 0).map(([title]) => title);
    assert.deepEqual(failed, ['names its platform', 'has every binary for its processor alone']);
  });

  it('are the same bytes when they are built again, in another folder and time zone', async () => {
    const before = process.env['TZ'];
    process.env['TZ'] = 'Asia/Tokyo';
    const umask = process.umask(0o077);
    const staged = await stage({ package: true });
    try {
      const again = await readFile(path.join(staged.folder, 'dist', packageName(undefined)));
      assert.ok(again.equals(await readFile(await builtPackage(undefined))));
    } finally {
      process.umask(umask);
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
      await staged.remove();
    }
  });
});
