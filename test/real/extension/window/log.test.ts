/** Writes each kind of failure to the log, as the extension does. No line may contain the key. */
import { outputLines } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { Client } from '../../../../src/api/client.ts';
import { FaultProxy } from '../../../helpers/faultProxy.ts';
import { FAULTS, type FaultName } from '../../../helpers/faultProxyFaults.ts';

const { Log } = await import('../../../../src/extension/window/ui/log.ts');

const KEY = 'sentinel-Key_4f1c9d27aa77e1b0';
const names = Object.keys(FAULTS) as FaultName[];
const limits = { attempt: 300, total: 2000 };

describe('The log', () => {
  let proxy: FaultProxy;

  before(async () => {
    proxy = await FaultProxy.start({
      upstream: ({ headers }) => ({ json: { endpoints: [], said: headers.authorization } }),
    });
  });
  // Another suite may have logged in this process.
  beforeEach(() => {
    outputLines.length = 0;
  });

  it('never contains the key, even if the service repeats it in an error', async () => {
    const log = new Log();
    const client = new Client({ baseUrl: proxy.baseUrl, key: KEY, fetch, retries: 0, limits });
    log.addSecret(KEY);
    let failures = 0;
    for (const name of names) {
      proxy.inject(name);
      await client.listComputes('shop').catch((error: unknown) => {
        failures += 1;
        log.error(`Refreshing after ${name}`, error);
      });
      proxy.clear();
    }
    assert.ok(failures > names.length / 2);
    assert.equal(outputLines.length, failures);
    assert.deepEqual(
      outputLines.filter((line) => line.includes(KEY)),
      [],
    );
  });

  it('holds no key that others wrote into their errors', () => {
    const log = new Log();
    log.addSecret(KEY);
    const error = new Error(`refused: ${KEY}`, { cause: new Error(KEY) });
    for (const each of [error, KEY, { toString: () => KEY }]) log.error(`With ${KEY}`, each);
    log.info(KEY);
    assert.equal(outputLines.length, 4);
    assert.ok(!outputLines.join('\n').includes(KEY));
  });
});
