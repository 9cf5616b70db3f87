/** A window of a later version joins the local service of an earlier one. The service is the real one, without Postgres. */
import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Accounts } from '../../../../src/extension/account/accounts.ts';
import { endService } from '../../../../src/localService/stop.ts';
import { builtService } from '../../../helpers/builtService.ts';
import { temporaryFolder } from '../../../helpers/localService.ts';
import { SecretMap } from '../../../helpers/secretMap.ts';

const { LocalService } = await import('../../../../src/extension/signIn/ui/localService.ts');

describe('A window of a later version than the local service', () => {
  let dataDir: string;
  let secrets: SecretMap;
  let windows: InstanceType<typeof LocalService>[];

  beforeEach(() => {
    dataDir = temporaryFolder(temporaryFolder());
    secrets = new SecretMap();
    windows = [];
  });
  afterEach(async () => {
    for (const window of windows) window.dispose();
    await endService(dataDir);
  });

  /** @returns the program, in a package of this version */
  async function install(version: string): Promise<string> {
    const program = path.join(dataDir, version, 'dist', 'service.js');
    mkdirSync(path.dirname(program), { recursive: true });
    copyFileSync(await builtService(), program);
    writeFileSync(path.join(dataDir, version, 'package.json'), JSON.stringify({ version, type: 'module' }));
    const script = path.join(dataDir, version, 'start.mjs');
    const imported = JSON.stringify(pathToFileURL(program).href);
    writeFileSync(script, `process.argv.push('--no-postgres'); await import(${imported});`);
    return script;
  }

  async function openWindow(version: string) {
    const accounts = new Accounts(secrets);
    const log = { info() {}, error() {}, addSecret() {} };
    const config = { postgresPath: undefined, extensionsPath: undefined, trustedExtensions: [] };
    const parts = { script: await install(version), dataDir, version, secrets, accounts, config, log };
    const localService = new LocalService(parts);
    windows.push(localService);
    let offers = 0;
    localService.onDidJoinEarlier(() => (offers += 1));
    return { localService, offers: () => offers };
  }

  const file = () => path.join(dataDir, 'service.json');
  const note = () => JSON.parse(readFileSync(file(), 'utf8'));

  it('offers to replace it, and then serves the earlier windows, too', async () => {
    const earlier = await openWindow('0.9.0');
    await earlier.localService.start();
    const { pid } = note();
    const later = await openWindow('0.10.0');
    await later.localService.join();
    assert.deepEqual([note().pid, earlier.offers(), later.offers()], [pid, 0, 1]);
    await later.localService.start();
    assert.equal(note().version, '0.10.0');
    await earlier.localService.join();
    assert.deepEqual([note().version, earlier.offers(), later.offers()], ['0.10.0', 0, 1]);
  });

  it('offers it for a service that states no version, as that of 0.3', async () => {
    const { localService } = await openWindow('0.4.0');
    await localService.start();
    const { version, ...older } = note();
    assert.equal(version, '0.4.0');
    writeFileSync(file(), JSON.stringify(older));
    const later = await openWindow('0.4.0');
    await later.localService.join();
    assert.equal(later.offers(), 1);
  });
});
