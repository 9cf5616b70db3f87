/** Somebody deletes the data folder of the local service. The service is the real one, without Postgres. */
import { executed } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Accounts } from '../../../../src/extension/account/accounts.ts';
import { builtService } from '../../../helpers/builtService.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { SecretMap } from '../../../helpers/secretMap.ts';

const { LocalService } = await import('../../../../src/extension/signIn/ui/localService.ts');

describe('A window whose local service has a new sample', () => {
  it('says so if data were deleted, and not at the first start', async () => {
    const folder = temporaryFolder();
    const [script, dataDir] = [path.join(folder, 'start.mjs'), path.join(folder, 'data')];
    const imported = JSON.stringify(pathToFileURL(await builtService()).href);
    writeFileSync(script, `process.argv.push('--no-postgres'); await import(${imported});`);
    const log = { info() {}, error() {}, addSecret() {} };
    const config = { postgresPath: undefined, extensionsPath: undefined, trustedExtensions: [] };
    const secrets = new SecretMap();
    let lost = 0;
    const isStopped = () =>
      executed.findLast(([, key]) => key === 'hostedPostgres.localServiceStopped')?.[2] ?? false;
    const startAndStop = async () => {
      const accounts = new Accounts(secrets);
      const localService = new LocalService({
        script,
        dataDir,
        version: '0.0.0',
        secrets,
        accounts,
        config,
        log,
      });
      localService.onDidLoseData(() => (lost += 1));
      await localService.start();
      assert.equal(isStopped(), false);
      await localService.stop();
      assert.equal(isStopped(), true, 'the welcome text says that the data are kept');
      localService.dispose();
    };
    await startAndStop();
    await startAndStop();
    assert.equal(lost, 0);
    rmSync(dataDir, { recursive: true });
    await startAndStop();
    await startAndStop();
    assert.equal(lost, 1);
  });
});
