import { answers, executed, fakeTerminals } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { POSTGRES_MISSING } from '../../../../../src/api/errors.ts';
import { ConnectionDefaults } from '../../../../../src/model/connection/connectionDefaults.ts';
import { LastCompute } from '../../../../../src/model/inventory/lastCompute.ts';
import type { CommandContext } from '../../../../../src/ui/commands/context.ts';
import { connectScripted, MemoryMap, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { CodedError, computeRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

const { openPsql } = await import('../../../../../src/ui/commands/connection/psql.ts');
const { explainError } = await import('../../../../../src/ui/text/errorMessage.ts');

describe('Open psql', () => {
  let store: ScriptedModel;
  let context: CommandContext;
  let folder: string;
  let answer: unknown;

  beforeEach(async () => {
    folder = temporaryFolder();
    for (const name of ['psql', 'psql.exe']) writeFileSync(path.join(folder, name), '', { mode: 0o755 });
    const endpoints = [computeRecord('ep-one')];
    store = await connectScripted((call) => (call.endsWith('/endpoints') ? { endpoints } : answer));
    const memory = new MemoryMap();
    const connectionDefaults = new ConnectionDefaults(store.session, memory);
    await connectionDefaults.remember('shop', { role: 'owner', database: 'orders' });
    const config = { postgresPath: folder, connectionString: () => ({ role: '', database: '' }) };
    const others = { connectionDefaults, config, lastCompute: new LastCompute(store.session, memory) };
    context = { ...store, ...others } as unknown as CommandContext;
    fakeTerminals.opened.length = executed.length = answers.length = 0;
  });

  const row = { kind: 'compute', projectId: 'shop', branchId: 'br-main', computeId: 'ep-one' };
  const open = async () => openPsql(context, row, { failureMessage: '', initialConnection: undefined });

  for (const [status, action, reply] of [
    [401, 'newKey', 401],
    [409, 'postgres', new CodedError(409, POSTGRES_MISSING)],
  ] as const)
    it(`offers the remedy instead of a prompt for the password after a ${status} (${action})`, async () => {
      answer = reply;
      await assert.rejects(open(), (error) => explainError(error).action === action);
      assert.equal(fakeTerminals.opened.length, 0);
    });

  it('offers other clients if psql is not installed', async () => {
    const { PATH } = process.env;
    Object.assign(context.config, { postgresPath: undefined });
    answers.push('Open In…');
    process.env.PATH = '';
    try {
      await open();
    } finally {
      process.env.PATH = PATH;
    }
    await until('the command', async () => executed.length > 0);
    assert.deepEqual(executed, [['hostedPostgres.compute.openIn', row]]);
    assert.equal(fakeTerminals.opened.length, 0);
  });

  for (const status of [403, 404, 405, 412, 503])
    it(`lets psql ask for the password after a ${status}`, async () => {
      answer = status;
      await open();
      assert.equal(fakeTerminals.opened.length, 1);
    });
});
