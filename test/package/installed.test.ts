/** A package on a machine without Postgres and without network, in a real VS Code. */
import assert from 'node:assert/strict';
import { lockedVersion } from '../../scripts/package/fetchPostgres.ts';
import { installedPackage, type InstalledPackage } from '../../scripts/package/installedPackage.ts';
import { whyNotIsolated } from '../../scripts/package/isolation.ts';
import { targets } from '../../scripts/package/targets.ts';
import type { Tried } from '../../scripts/package/tryInstalled.ts';

const reason = whyNotIsolated();
const why = reason === undefined ? '' : ` (skipped: ${reason})`;

describe(`the package for linux-x64 without network and Postgres${why}`, () => {
  let installed: InstalledPackage;

  before(async function () {
    if (why !== '') return this.skip();
    installed = await installedPackage();
  });
  after(() => installed?.remove());

  const check = async ({ networks, rows, programs, pgDump }: Tried, isOwn: RegExp): Promise<void> => {
    assert.deepEqual(networks, ['lo']);
    assert.deepEqual(rows, [{ one: 1, version: await lockedVersion(targets['linux-x64']) }]);
    assert.equal(pgDump, 'Dumped by pg_dump version 18');
    assert.equal(programs.length, 1);
    assert.match(programs.join(), isOwn);
  };

  it('answers a query after one click, for an ordinary user', async () => {
    await check(installed.try('user'), /\/extensions\/hosted-postgres\.[^/]+\/postgres\/bin\/postgres$/);
  });

  it('answers a query after one click, for root with a closed home folder', async () => {
    await check(installed.try('root'), /^\/var\/lib\/hosted-postgres\/programs-\w+\/bin\/postgres$/);
  });
});
