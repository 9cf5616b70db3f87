import assert from 'node:assert/strict';
import { findHostedExtensions } from '../../../../../src/extension/signIn/commands/hostedExtensions.ts';
import { connectScripted, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord, type Script } from '../../../../helpers/scriptedService.ts';

const DUMP = 'CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public;\nCREATE TABLE a ();\n';

const script: Script = (call) => {
  if (call.startsWith('GET /projects/closed/')) return 500;
  if (call.endsWith('/schema')) return { sql: DUMP };
  if (call.endsWith('/databases')) return { databases: [{ id: 1, name: 'app', owner_name: 'o' }] };
  if (call.endsWith('/branches'))
    return {
      branches: [
        { id: 'br-a', name: 'a' },
        { id: 'br-main', name: 'main', default: true },
      ],
    };
  const state = call.includes('/idle/') ? 'idle' : 'active';
  return { endpoints: [computeRecord('ep-main', { branch_id: 'br-main', current_state: state })] };
};

describe('findHostedExtensions', () => {
  const at = ({ inventory, schemas }: ConnectedModel, isLocal: boolean) => ({
    inventory,
    schemas,
    session: { connection: { isLocal } },
  });

  it('returns the extensions of default branches, without those that cannot be read or would be woken', async () => {
    const model = await connectScripted(script);
    const projects = ['closed', 'idle', 'shop'];
    for (const id of projects) await model.inventory.loadComputes(id).catch(() => undefined);
    assert.deepEqual(await findHostedExtensions(at(model, false), projects), ['vector']);
    const schemas = model.service.requests.filter((call) => call.endsWith('/schema'));
    assert.deepEqual(schemas, ['GET /projects/shop/branches/br-main/schema']);
  });

  it('reads nothing of the local service, and nothing without a connection', async () => {
    const model = await connectScripted(script);
    const before = model.service.requests.length;
    assert.deepEqual(await findHostedExtensions(at(model, true), ['shop']), []);
    assert.deepEqual(
      await findHostedExtensions({ ...at(model, true), session: { connection: undefined } }, ['shop']),
      [],
    );
    assert.equal(model.service.requests.length, before);
  });
});
