/** The setting of a project, with real data: also of computes that exist, and of branches made later. */
import assert from 'node:assert/strict';
import { branchCalls, emptyAccount, type Api, type Created } from '../../../../helpers/branchCalls.ts';
import { startLocalService } from '../../../../helpers/localService.ts';
import { connectTo, query } from '../clients.ts';
import { replicate } from './replicate.ts';

describe('A project with logical replication', () => {
  let api: Api;
  before(async () => {
    api = branchCalls(await startLocalService({ args: emptyAccount() }));
  });
  const settings = { enable_logical_replication: true };
  const levelOf = async (created: Created) => (await query(api.uri(created), 'show wal_level'))[0];
  /** A slot is created and dropped. */
  const useSlot = async (created: Created) => {
    const client = await replicate(api.uri(created));
    await client.query('CREATE_REPLICATION_SLOT one LOGICAL pgoutput');
    await client.query('DROP_REPLICATION_SLOT one');
    await client.end();
  };

  it('has it from the start, and so do its new branches', async () => {
    const main = await api.change('POST', '', { project: { name: 'shop', settings } });
    const child = await api.createBranch(main.project.id);
    for (const each of [main, child]) {
      assert.equal(await levelOf(each), 'logical');
      await useSlot(each);
    }
  });

  it('restarts its computes when it is turned on', async () => {
    const main = await api.change('POST', '', { project: { name: 'later' } });
    assert.equal(await levelOf(main), 'replica');
    const client = await connectTo(api.uri(main));
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    await api.change('PATCH', `/${main.project.id}`, { project: { settings } });
    await ended;
    assert.equal(await levelOf(main), 'logical');
    await useSlot(main);
  });

  it('lets the roles replicate that the API has created', async () => {
    const main = await api.change('POST', '', { project: { name: 'roles', settings } });
    const { role } = (await api.change('POST', `/${main.project.id}/branches/${main.branch.id}/roles`, {
      role: { name: 'sync' },
    })) as Created & { readonly role: { readonly name: string; readonly password: string } };
    const uri = api.uri(main).replace(/\/\/[^@]*@/, `//${role.name}:${role.password}@`);
    const client = await replicate(uri);
    assert.equal((await client.query('IDENTIFY_SYSTEM')).rows[0]?.dbname, 'app');
    await client.end();
  });
});
