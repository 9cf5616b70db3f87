/** Two containers of one machine that share a data directory: neither sees the other's processes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isAlive } from '../../../../src/base/programs/isAlive.ts';
import { branchCalls, emptyAccount, storageOf, type Created } from '../../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';
import { didNotStart } from '../didNotStart.ts';
import { answers, connectTo, query } from './clients.ts';
import { canContain, inContainer } from './container.ts';

(canContain() ? describe : describe.skip)('Containers with one data directory', () => {
  const dataDir = temporaryFolder();
  const options = { key: 'k', dataDir, args: emptyAccount() };
  const start = (name: string) => startLocalService({ ...options, under: inContainer(name) });
  /** `unshare` ignores signals itself. */
  const stop = async ({ pid, ended }: LocalService) => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    process.kill(Number(children.trim()), 'SIGINT');
    return ended;
  };
  let created: Created;
  let uri: string;
  before(async () => {
    const service = await start('first');
    const api = branchCalls(service);
    created = await api.change('POST', '', { project: {} });
    uri = api.uri(created);
    await query(uri, 'create table kept as select 1 as id');
    assert.equal(await stop(service), 0);
  });

  it('run one service, also while the first is frozen, which then continues', async () => {
    const first = await startLocalService(options);
    process.kill(first.pid, 'SIGSTOP');
    const startedAt = performance.now();
    await assert.rejects(start('second'), didNotStart(3, /already running on/));
    // It isn't watched: the lock of the system says that it is alive.
    assert(performance.now() - startedAt < 30_000);
    process.kill(first.pid, 'SIGCONT');
    await branchCalls(first).change('POST', `/${created.project.id}/branches`, { branch: { name: 'later' } });
    assert.equal(await first.stop(), 0);
    const second = await start('second');
    assert.doesNotMatch(second.stderr(), /Waiting/);
    const branches = await branchCalls(second).branches(created.project.id);
    assert(branches.some(({ name }) => name === 'later'));
    await stop(second);
  });

  it('run one server on a branch, also if the service was killed and the server was not', async () => {
    const first = await startLocalService(options);
    await answers(uri);
    const client = await connectTo(uri);
    client.on('error', () => undefined);
    const data = path.join(storageOf({ dataDir }), 'branches', created.branch.id, 'data');
    const postmaster = Number(readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    await first.kill();
    assert(isAlive(postmaster));
    const second = await start('second');
    // The service starts before the address of the compute is open. The engine answers then.
    const activity = `/${created.project.id}/endpoints/${created.endpoints[0]?.id}/activity`;
    await branchCalls(second).send('GET', activity);
    await assert.rejects(query(uri, 'select 1'), /Another Postgres server uses the data of this branch/);
    process.kill(postmaster, 'SIGQUIT');
    await until('the server to end', async () => !isAlive(postmaster));
    assert.deepEqual(await query(uri, 'select id from kept'), [1]);
    await stop(second);
  });
});
