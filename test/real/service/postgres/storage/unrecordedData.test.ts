/** Databases that the account doesn't know, because account.json is missing or an older one, are neither deleted nor hidden. */
import assert from 'node:assert/strict';
import {
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { branchCalls, emptyAccount, storageOf } from '../../../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder } from '../../../../helpers/localService.ts';
import { until } from '../../../../workbench/until.ts';
import { didNotStart } from '../../didNotStart.ts';
import { query } from '../clients.ts';

/** Gives a folder of a service that root has started to the account that the service became. */
function giveToService(folder: string): void {
  const { uid, gid } = statSync(folder);
  for (const name of readdirSync(folder, { encoding: 'utf8', recursive: true }))
    lchownSync(path.join(folder, name), uid, gid);
}

describe('Data of a branch that the account does not have', () => {
  const dataDir = temporaryFolder();
  const start = async () => startLocalService({ dataDir, args: emptyAccount() });
  const inStorage = (...names: string[]) => path.join(storageOf({ dataDir }), ...names);
  let olderAccount: string;
  let newerAccount: string;
  let branch: string;
  let deleted: string;

  before(async () => {
    const service = await start();
    const api = branchCalls(service);
    olderAccount = readFileSync(inStorage('account.json'), 'utf8');
    const created = await api.change('POST', '', { project: { name: 'shop' } });
    await query(api.uri(created), 'create table kept as select 1 as a');
    const copy = await api.createBranch(created.project.id);
    await api.change('DELETE', `/${created.project.id}/branches/${copy.branch.id}`);
    [branch, deleted] = [created.branch.id, copy.branch.id];
    await service.stop();
    newerAccount = readFileSync(inStorage('account.json'), 'utf8');
  });

  it('keeps the service from starting with a new account', async () => {
    renameSync(inStorage('account.json'), inStorage('backup'));
    await assert.rejects(start(), didNotStart(5, /has databases, but account.json .* is missing. Restore/));
    assert.deepEqual(readdirSync(inStorage('branches')), [branch]);
    renameSync(inStorage('backup'), inStorage('account.json'));
  });

  it('is moved, and moved back when there is a newer account again', async () => {
    writeFileSync(inStorage('account.json'), olderAccount);
    const older = await start();
    await until('the line', async () =>
      older.stderr().includes(`moved to ${inStorage('unrecorded', branch)}`),
    );
    await older.stop();
    assert.deepEqual(readdirSync(inStorage('branches')), []);
    writeFileSync(inStorage('account.json'), newerAccount);
    const service = await start();
    const api = branchCalls(service);
    const { projects } = await api.send<{ projects: { id: string }[] }>('GET', '');
    const address = `/${projects[0]?.id}/connection_uri?database_name=app&role_name=app_owner`;
    const { uri } = await api.send<{ uri: string }>('GET', address);
    assert.deepEqual(await query(uri, 'select a from kept'), [1]);
    assert.deepEqual(readdirSync(inStorage('unrecorded')), []);
    await service.stop();
  });

  it('is removed if the branch was deleted or is unfinished', async () => {
    const data = [deleted, `${branch}.new`, `${branch}.replaced`].map((name) => path.join(name, 'data'));
    for (const name of data) {
      mkdirSync(inStorage('branches', name), { recursive: true });
      writeFileSync(inStorage('branches', name, 'PG_VERSION'), '18');
    }
    mkdirSync(inStorage('branches', 'br-without-data'));
    giveToService(inStorage('branches'));
    const service = await start();
    await until('the removal', async () => readdirSync(inStorage('branches')).length === 1);
    assert.deepEqual(readdirSync(inStorage('branches')), [branch]);
    assert.deepEqual(readdirSync(inStorage('unrecorded')), []);
    await service.stop();
  });
});
