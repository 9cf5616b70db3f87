/** The passwords of a branch that got the data of another one, if no server could set them at once. */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';

describe('Restored data', () => {
  it('get the passwords of their branch at the next start, and the log says why not before', async () => {
    const service = await startControlPlane();
    const add = async (branchId: string) => {
      await service.engine.createBranch({ id: branchId });
      const compute = await service.create({ id: `ep-${branchId}`, branchId });
      const uri = await service.uri(compute);
      await query(uri, `create table of_${branchId} ()`);
      await service.engine.suspend(compute.id);
      return uri;
    };
    const [target, source] = [await add('target'), await add('source')];
    const settingsOf = (branchId: string) =>
      path.join(service.dataDir, 'postgres/branches', branchId, 'data/postgresql.auto.conf');
    const settings = readFileSync(settingsOf('source'), 'utf8');
    // No server starts with it.
    appendFileSync(settingsOf('source'), 'setting_of_no_version = 1\n');
    await service.engine.restoreBranch({ id: 'target', sourceId: 'source', preservedId: 'before' });
    assert.match(
      service.log.join('\n'),
      /^target: until its compute starts, its roles have the passwords of source: .*setting_of_no_version/m,
    );
    writeFileSync(settingsOf('target'), settings);
    assert.deepEqual(await query(target, "select to_regclass('of_source')::text"), ['of_source']);
    const ofSource = Object.assign(new URL(target), { password: new URL(source).password }).href;
    await assert.rejects(query(ofSource, 'select'), /password authentication failed/);

    // Once they are set, a password that a user sets in SQL stays.
    await query(target, "alter role app_owner password 'of-the-user'");
    await service.engine.suspend('ep-target');
    const changed = Object.assign(new URL(target), { password: 'of-the-user' }).href;
    assert.deepEqual(await query(changed, 'select 1'), [1]);
  });
});
