import '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Uri } from 'vscode';
import {
  detailsUri,
  detailsTitle,
  jsonPath,
  type DetailsNode,
} from '../../../../src/extension/browse/details.ts';
import { ApiKeyList } from '../../../../src/extension/signIn/apiKeys/apiKeyList.ts';
import { connectScripted, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';

const target = { projectId: 'shop', branchId: 'br-main' };

const { detailsText } = await import('../../../../src/extension/browse/ui/detailsDocuments.ts');

describe('The details of a resource', () => {
  let model: ScriptedModel;
  let read: (node: DetailsNode, account?: string) => Promise<string>;
  let page: (node: DetailsNode) => Promise<string>;
  let deps: Parameters<typeof detailsTitle>[0] & ScriptedModel;

  beforeEach(async () => {
    const secrets = { password: 'hunter2', connection_uri: 'postgresql://a:hunter2@x', key: 'hunter2' };
    const compute = { ...computeRecord('ep-one'), pooler_mode: 'transaction', proxy_host: 7, ...secrets };
    const lists: Readonly<Record<string, unknown>> = {
      '/projects': { projects: [{ id: 'shop', name: 'Shop', locked: true, provisioner: 'k8s', ...secrets }] },
      '/branches': {
        branches: [
          { id: 'br-main', name: 'main', logical_size: 31_200_000, history_size: 5_000_000, ...secrets },
        ],
      },
      '/endpoints': { endpoints: [compute] },
      '/api_keys': [{ id: 7, name: 'ci', last_used_from_addr: '192.0.2.1', ...secrets }],
    };
    model = await connectScripted(
      (call) => Object.entries(lists).find(([end]) => call.endsWith(end))?.[1] ?? 404,
    );
    deps = { ...model, apiKeys: new ApiKeyList(model.session) };
    const own = () => model.session.connection?.accountId ?? '';
    page = (node) => detailsText(deps, detailsUri(own(), node, 'title') as unknown as Uri);
    read = (node, account = own()) => {
      const uri = detailsUri(account, node, 'title');
      return detailsText(deps, { ...uri, path: jsonPath(uri.path) } as unknown as Uri);
    };
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
      const text = await read(node);
      assert.doesNotMatch(await page(node), /hunter2/);
      assert.doesNotMatch(text, /hunter2/);
      assert.deepEqual({ ...JSON.parse(text), ...fields }, JSON.parse(text));
    }
  });

  it('are in a tab with the name of the project, branch or compute, which has no slash', async () => {
    const compute = { kind: 'compute', ...target, computeId: 'ep-one' } as const;
    assert.equal(detailsTitle(deps, compute), 'br-main ep-one');
    const record = { id: 'br-main', name: 'feature/log-in' };
    for (const node of [{ kind: 'project', projectId: 'shop' }, compute] as const) await read(node);
    await model.inventory.branches.ensureLoaded('shop');
    model.inventory.branches.put('shop', { ...model.inventory.branches.get('shop', 'br-main'), ...record });
    const nodes = [{ kind: 'project', projectId: 'shop' }, { kind: 'branch', ...target }, compute] as const;
    const titles = nodes.map((node) => detailsTitle(deps, node));
    assert.deepEqual(titles, ['Shop', 'feature-log-in', 'feature-log-in']);
    await read({ kind: 'apiKey', keyId: 7 });
    assert.deepEqual(
      [7, 8].map((keyId) => detailsTitle(deps, { kind: 'apiKey', keyId })),
      ['ci', 'key-8'],
    );
  });

  it('have no text for what is gone, or of another account', async () => {
    assert.equal(
      await read({ kind: 'compute', ...target, computeId: 'ep-two' }),
      '// It no longer exists.\n',
    );
    assert.equal(await page({ kind: 'compute', ...target, computeId: 'ep-two' }), 'It no longer exists.\n');
    await assert.rejects(read({ kind: 'branch', ...target }, 'other'), /switched to another account/);
  });

  it('are a page with names of fields, and sizes with their units', async () => {
    const text = await page({ kind: 'branch', ...target });
    assert.match(text, /^# Branch\n\n\*\*main\*\*\n/);
    assert.match(text, /\| Data \| 31\\\.2 MB \|\n\| History on disk \| 5 MB \|/);
    assert.doesNotMatch(text, /31200000|logical_size/);
    assert.match(await page({ kind: 'compute', ...target, computeId: 'ep-one' }), /^# Compute\n/);
    assert.match(await page({ kind: 'apiKey', keyId: 7 }), /^# API key\n\n\*\*ci\*\*\n/);
    assert.match(await page({ kind: 'project', projectId: 'shop' }), /^# Project\n\n\*\*Shop\*\*\n/);
  });
});
