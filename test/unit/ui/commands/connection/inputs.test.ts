import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { CommandContext } from '../../../../../src/ui/commands/context.ts';
import { connectStore, type ConnectedStore } from '../../../../helpers/connectedStore.ts';
import { computeRecord, scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';

const { inputHost } = await import('../../../../../src/ui/commands/connection/inputs.ts');

describe('inputHost', () => {
  let service: ScriptedService;
  let store: ConnectedStore;

  beforeEach(async () => {
    const projects = ['shop', 'blog-1', 'blog-2'].map((id) => ({ id, name: id.replace(/-.*/, '') }));
    const endpoints = ['main', 'ep-third', 'main'].map((name, index) =>
      computeRecord(['ep-first', 'ep-second', 'ep-third'][index] ?? '', { name, host: `host-${index}` }),
    );
    service = await scriptService((call) => (call.endsWith('/endpoints') ? { endpoints } : { projects }));
    store = await connectStore(service);
  });
  afterEach(async () => {
    store.dispose();
    await service.close();
  });

  const find = (project: string, compute: string) =>
    inputHost(store as unknown as CommandContext, { project, compute }, { failureMessage: '' });

  it('prefers an id to a name', async () => {
    assert.equal(await find('shop', 'ep-third'), 'host-2');
  });

  it('rejects a name that is not unique', async () => {
    const message = 'Several computes of shop are named main. Use the id.';
    await assert.rejects(async () => find('shop', 'main'), { message });
    await assert.rejects(async () => find('blog', 'ep-first'), {
      message: 'Several projects are named blog. Use the id.',
    });
  });
});
