/** Packages on a machine without Postgres and without network, in a real VS Code. */
import assert from 'node:assert/strict';
import { lockedVersion } from './fetchPostgres.ts';
import { installedPackage, type InstalledPackage } from './installedPackage.ts';
import { whyNotIsolated } from './isolation.ts';
import { targets } from './targets.ts';
import type { Tried } from './tryInstalled.ts';
import type { TriedUniversal } from './tryUniversal.ts';

const reason = whyNotIsolated();
const why = reason === undefined ? '' : ` (skipped: ${reason})`;

describe(`the package for linux-x64 without network and Postgres${why}`, function () {
  this.timeout(300_000);
  let installed: InstalledPackage;

  before(async function () {
    if (why !== '') return this.skip();
    installed = await installedPackage('linux-x64');
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
    await check(
      installed.try('tryInstalled.ts', 'user'),
      /\/extensions\/hosted-postgres\.[^/]+\/postgres\/bin\/postgres$/,
    );
  });

  it('answers a query after one click, for root with a closed home folder', async () => {
    await check(
      installed.try('tryInstalled.ts', 'root'),
      /^\/var\/lib\/hosted-postgres\/programs-\w+\/bin\/postgres$/,
    );
  });
});

describe(`the universal package without Postgres${why}`, function () {
  this.timeout(300_000);
  let installed: InstalledPackage;

  before(async function () {
    if (why !== '') return this.skip();
    installed = await installedPackage(undefined);
  });
  after(() => installed?.remove());

  it('says why no compute can start, offers to set up Postgres, and shows no compute as active', () => {
    const tried: TriedUniversal = installed.try('tryUniversal.ts', 'user');
    const reason = /Postgres is not installed on this machine/;
    assert.match(tried.message, reason);
    assert.match(tried.notification, reason);
    assert.ok(tried.rows.some((row) => row.startsWith('Set Up Postgres…')));
    const states = tried.rows.flatMap((row) => /^Compute [^,]*, (\w+)/.exec(row)?.[1] ?? []);
    assert.deepEqual(new Set(states), new Set(['idle']));
  });
});
