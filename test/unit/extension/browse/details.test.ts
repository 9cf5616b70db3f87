import assert from 'node:assert/strict';
import { detailsUri, readDetails, type DetailsNode } from '../../../../src/extension/browse/details.ts';
import { ApiKeyList } from '../../../../src/extension/signIn/apiKeys/apiKeyList.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

const target = { projectId: 'shop', branchId: 'br-main' };

describe('The details of a resource', () => {
  let model: ScriptedModel;
  let read: (node: DetailsNode, account?: string) => Promise<string | undefined>;

  beforeEach(async () => {
    const secrets = { password: 'hunter2', connection_uri: 'postgresql://a:hunter2@x', key: 'hunter2' };
    const compute = { ...computeRecord('ep-one'), pooler_mode: 'transaction', proxy_host: 7, ...secrets };
    const lists: Readonly<Record<string, unknown>> = {
      '/projects': { projects: [{ id: 'shop', name: 'Shop', locked: true, provisioner: 'k8s', ...secrets }] },
      '/branches': { branches: [{ id: 'br-main', name: 'main', history_size: 5_000_000, ...secrets }] },
      '/endpoints': { endpoints: [compute] },
      '/api_keys': [{ id: 7, name: 'ci', last_used_from_addr: '192.0.2.1', ...secrets }],
    };
    model = await connectScripted(
      (call) => Object.entries(lists).find(([end]) => call.endsWith(end))?.[1] ?? 404,
    );
    const deps = { ...model, apiKeys: new ApiKeyList(model.session) };
    read = (node, account = model.session.connection?.accountId ?? '') =>
      readDetails(deps, detailsUri(account, node));
  });

  it('are all fields of its record, and never a secret', async () => {
    const rows = [
      [
        { kind: 'project', projectId: 'shop' },
        { locked: true, provisioner: 'k8s' },
      ],
      [
        { kind: 'branch', ...target },
        { name: 'main', history_size: 5_000_000 },
      ],
      [{ kind: 'compute', ...target, computeId: 'ep-one' }, { pooler_mode: 'transaction' }],
      [
        { kind: 'apiKey', keyId: 7 },
        { name: 'ci', last_used_from_addr: '192.0.2.1' },
      ],
    ] as const;
    for (const [node, fields] of rows) {
      const text = (await read(node)) ?? '';
      assert.doesNotMatch(text, /hunter2/);
      assert.deepEqual({ ...JSON.parse(text), ...fields }, JSON.parse(text));
    }
  });

  it('have no text for what is gone, or of another account', async () => {
    assert.equal(await read({ kind: 'compute', ...target, computeId: 'ep-two' }), undefined);
    await assert.rejects(read({ kind: 'branch', ...target }, 'other'), /switched to another account/);
  });
});
