/** The first start of a service creates data directories, which takes seconds. Stopping it must not take as long. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PACKED_CLUSTER_IN_CLONE } from '../../../../../src/service/postgres/server/programs.ts';
import { builtService } from '../../../../helpers/builtService.ts';
import { startLocalService, temporaryFolder } from '../../../../helpers/localService.ts';
import { processTree } from '../../../../workbench/processes.ts';
import { branchApi } from '../catalog/branchApi.ts';
import { eventually, query } from '../clients.ts';
import { copyOfPostgres } from '../copyOfPostgres.ts';

describe('service that is stopped while it creates its first data directories', () => {
  let dataDir: string;
  before(() => {
    dataDir = temporaryFolder();
  });

  const files = (pattern: string) => globSync(pattern, { cwd: path.join(dataDir, 'postgres') });

  /** Stops a service as soon as a file exists. */
  async function stopAt(pattern: string, args: readonly string[] = []): Promise<void> {
    const service = await startLocalService({ dataDir, args, createsTemplate: true });
    await eventually(() => files(pattern).length > 0);
    const family = await processTree([service.pid]);
    assert.equal(await service.stop(), 0);
    assert.equal(service.stderr(), '');
    // Killed processes take a moment to end.
    await eventually(async () => (await processTree(family)).length === 0);
  }

  it('stops at once during initdb and leaves no process or unfinished template', async () => {
    const { root, folder } = copyOfPostgres();
    // The damaged file isn't unpacked.
    writeFileSync(path.join(root, path.basename(PACKED_CLUSTER_IN_CLONE)), '');
    await stopAt('template-*.new/base', ['--postgres-path', folder]);
    assert.deepEqual(files('{template-*,initdb-password,branches/*/data*}'), []);
  });

  it('stops at once during a copy of the template and leaves no unfinished copy', async () => {
    await stopAt('branches/*/data{.new,}');
    assert.deepEqual(files('{template-*.new,branches/*/data.new}'), []);
  });

  it('removes a temporary account', async () => {
    const parent = temporaryFolder();
    // A service of root must be able to remove it after it became `nobody`, as in /tmp.
    chmodSync(parent, 0o1777);
    const env = { ...process.env, TMPDIR: parent };
    const args = [await builtService(), '--port', '0', '--api-key', 'k'];
    const service = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const own = () => globSync('hosted-postgres-*', { cwd: parent });
    await once(service.stdout, 'data');
    assert.match(own().join(), /^hosted-postgres-temporary-\w+$/);
    await eventually(() => globSync('hosted-postgres-*/postgres/branches/*', { cwd: parent }).length > 0);
    service.kill('SIGTERM');
    assert.deepEqual(await once(service, 'exit'), [0, null]);
    assert.deepEqual(own(), []);
  });

  it('creates them at the next start', async () => {
    const service = await startLocalService({ dataDir });
    const uri = await branchApi(() => service).uri();
    assert.deepEqual(await query(uri, 'select 1'), [1]);
  });
});
