/**
 * The account of version 0.3.0 is `account-0.3.0.txt`, as that version wrote it: with a branch that expires and has annotations, one of
 * the schema only, settings of a compute, a deleted project, a revoked key, and a restore during which the service was killed.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readAccountFile } from '../../../../src/service/state/accountFile.ts';
import type { ProjectRecord } from '../../../../src/service/state/storedRecords.ts';
import { call } from '../../../helpers/call.ts';
import { FakeClock } from '../../../helpers/fakeClock.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { endOperations, startInProcess, type InProcess } from '../inProcess.ts';

const PROJECT = 'shop-000001';
const FEATURE = 'br-sparkling-wave-616477';
const NOW = Date.parse('2026-11-28T19:00:00Z');

describe('The account of version 0.3.0', () => {
  let test: InProcess;
  let file: string;
  beforeEach(async () => {
    const folder = temporaryFolder();
    file = path.join(folder, 'account.json');
    copyFileSync(path.join(import.meta.dirname, 'account-0.3.0.txt'), file);
    test = await startInProcess({ folder, clock: new FakeClock(NOW) });
    await endOperations(test, PROJECT);
  });

  const listBranches = async () =>
    (await test.client.branches.listIfChanged(PROJECT, undefined))?.list.items ?? [];

  it('has its projects, branches, computes and keys', async () => {
    const { status, json } = await call(test.baseUrl, { path: '/projects', key: 'key-of-0.3.0' });
    assert.equal(status, 200);
    const { projects } = json as { projects: ProjectRecord[] };
    assert.deepEqual(
      projects.map(({ name, history_retention_seconds }) => [name, history_retention_seconds]),
      [['shop', 7200]],
    );
    const stated = (await listBranches()).map(({ name, parent_id, protected: isProtected, expires_at }) =>
      [name, parent_id, isProtected && 'protected', expires_at].filter(Boolean).join(' '),
    );
    assert.deepEqual(stated.toSorted(), [
      'feature br-main-000001 2026-12-20T00:00:00.000Z',
      'feature_old br-main-000001',
      'main protected',
      'schema',
    ]);
    const { items: computes } = await test.client.listComputes(PROJECT);
    const main = computes.find(({ id }) => id === 'ep-main-000001');
    assert.equal(computes.length, 4);
    assert.deepEqual(main?.settings?.pg_settings, { work_mem: '8MB' });
    assert.deepEqual([main?.suspend_timeout_seconds, main?.host], [300, '127.0.0.1:15432']);
  });

  it('continues the restore that was interrupted', async () => {
    const { calls } = test.engine;
    assert.ok(calls.includes(`restoreBranch ${FEATURE} from br-main-000001`), calls.join());
    const branches = await listBranches();
    assert.deepEqual([...new Set(branches.map(({ current_state }) => current_state))], ['ready']);
  });

  it('is stored in the present format, with all that it had', async () => {
    await test.service.close();
    assert.match(readFileSync(file, 'utf8'), /^\{"format":4,/);
    const sets = (readAccountFile(file) ?? []).map((each) => ('set' in each ? each.set : each.removed));
    const count = (kind: string) => sets.filter((each) => each === kind).length;
    assert.deepEqual(['project', 'branch', 'compute', 'key'].map(count), [1, 4, 4, 3]);
  });
});
