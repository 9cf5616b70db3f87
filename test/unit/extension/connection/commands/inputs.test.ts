import { quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { AccountConnection } from '../../../../../src/extension/account/accountConnection.ts';
import { ConnectionDefaults } from '../../../../../src/extension/connection/connectionDefaults.ts';
import { connectScripted, MemoryMap, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { hostForInput, urlForInput } =
  await import('../../../../../src/extension/connection/commands/inputs.ts');

describe('The inputs of tasks', () => {
  let store: ScriptedModel;

  beforeEach(async () => {
    const projects = ['shop', 'blog-1', 'blog-2'].map((id) => ({ id, name: id.replace(/-.*/, '') }));
    const endpoints = ['main', 'ep-third', 'main'].map((name, index) =>
      computeRecord(['ep-first', 'ep-second', 'ep-third'][index] ?? '', { name, host: `host-${index}` }),
    );
    const onlyOne = computeRecord('ep-blog', { project_id: 'blog-1', name: 'only', host: 'host-blog' });
    const replies = new Map<string, unknown>([
      ['shop/endpoints', { endpoints }],
      ['blog-1/endpoints', { endpoints: [onlyOne] }],
      ['blog-2/endpoints', 403],
      ['br-main/roles', { roles: [{ name: 'owner' }] }],
      ['br-main/databases', { databases: ['app', 'old'].map((name) => ({ name, owner_name: 'owner' })) }],
    ]);
    store = await connectScripted((call) => {
      const reply = [...replies].find(([path]) => call.endsWith(path));
      return reply === undefined ? { projects } : reply[1];
    });
  });

  const run = (command: typeof hostForInput, args: Readonly<Record<string, string>>) => {
    const session = { connection: { isLocal: false } as AccountConnection };
    const connectionDefaults = new ConnectionDefaults(session, new MemoryMap());
    const context = commandContext(store, { connectionDefaults });
    return Promise.resolve(command(context, args, { failureMessage: '', initialConnection: undefined }));
  };

  it('prefer an id to a name', async () => {
    assert.equal(await run(hostForInput, { project: 'shop', compute: 'ep-third' }), 'host-2');
  });

  it('reject a name that is not unique', async () => {
    await assert.rejects(run(hostForInput, { project: 'shop', compute: 'main' }), {
      message: 'Several computes of shop are named main. Use the id.',
    });
    await assert.rejects(run(hostForInput, { project: 'blog', compute: 'ep-first' }), {
      message: 'Several projects are named blog. Use the id.',
    });
    await assert.rejects(run(hostForInput, { compute: 'main' }), {
      message: 'Several computes are named main. Use the id.',
    });
  });

  it('find a compute without its project, though another project is not readable', async () => {
    assert.equal(await run(hostForInput, { compute: 'ep-blog' }), 'host-blog');
    assert.equal(await run(hostForInput, { compute: 'only' }), 'host-blog');
  });

  it('find a compute that is newer than the lists, though another project is not readable', async () => {
    assert.equal(await run(hostForInput, { compute: 'only' }), 'host-blog');
    const newer = computeRecord('ep-newer', { project_id: 'blog-1', name: 'newer', host: 'host-newer' });
    const { script } = store.service;
    store.service.script = (call) =>
      call.endsWith('blog-1/endpoints') ? { endpoints: [newer] } : script(call);
    assert.equal(await run(hostForInput, { compute: 'newer' }), 'host-newer');
  });

  it('load no list for a known id', async () => {
    await store.inventory.loadComputes('shop');
    assert.equal(await run(hostForInput, { compute: 'ep-second' }), 'host-1');
    assert.deepEqual(store.service.requests, ['GET /projects/shop/endpoints']);
  });

  it('take the first of several databases if the compute is named', async () => {
    assert.equal(
      await run(urlForInput, { compute: 'ep-blog' }),
      'postgresql://owner@host-blog/app?sslmode=require',
    );
    assert.deepEqual(quickPicks, []);
  });

  it('take a database of the arguments', async () => {
    const args = { project: 'shop', compute: 'ep-first', database: 'old' };
    assert.equal(await run(urlForInput, args), 'postgresql://owner@host-0/old?sslmode=require');
  });

  it('say which compute does not exist', async () => {
    store.service.script = (call) =>
      call.endsWith('/endpoints') ? { endpoints: [] } : { projects: [{ id: 'shop' }] };
    await assert.rejects(run(hostForInput, { compute: 'ep-deleted' }), {
      message: 'There is no compute ep-deleted.',
    });
  });
});
