import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { MAX_OUTPUT } from '../../../../../src/extension/agents/outputText.ts';
import type { ToolInput, ToolName, ToolOutput } from '../../../../../src/extension/agents/tools/toolTable.ts';
import { callTool } from '../../../../helpers/callTool.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import type { Script } from '../../../../helpers/scriptedService.ts';
import { toolDependencies } from '../../../../helpers/toolDependencies.ts';

const later = () => new Date(Date.now() + 3_600_000).toISOString();

describe('Tools that read branches', () => {
  let model: ScriptedModel;
  let branches: { readonly id: string; readonly name: string; readonly [field: string]: unknown }[];

  const script: Script = (call) => {
    if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
    if (call.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'app_owner' }] };
    if (call.endsWith('/roles')) return { roles: [{ name: 'app_owner' }] };
    return call.endsWith('/branches') ? { branches } : { endpoints: [] };
  };

  const call = <N extends ToolName>(name: N, input: ToolInput<N>) => {
    return callTool(toolDependencies(model), name, input) as Promise<ToolOutput<N>>;
  };

  beforeEach(async () => {
    branches = [{ id: 'br-main', name: 'main', default: true, parent_id: null, expires_at: null }];
    model = await connectScripted(script);
  });

  it('say which branch is the default one, which is protected, and which is the agent’s', async () => {
    branches.push({ id: 'br-safe', name: 'safe', parent_id: 'br-main', protected: true });
    branches.push({ id: 'br-own', name: 'own', parent_id: 'br-main', expires_at: later() });
    model.agentBranches.add({
      account: accountId(model.account),
      projectId: 'shop',
      branchId: 'br-own',
      name: 'own',
      agent: 'claude',
      createdAt: new Date().toISOString(),
      expiresAt: later(),
    });
    const { branches: listed } = await call('listBranches', {});
    assert.deepEqual(
      listed.map((each) => [each.branchId, each.parentId, each.isDefault, each.isProtected, each.isYours]),
      [
        ['br-main', undefined, true, false, false],
        ['br-safe', 'br-main', false, true, false],
        ['br-own', 'br-main', false, false, true],
      ],
    );
  });

  it('compare with the parent, or a named branch', async () => {
    branches.push({ id: 'br-dev', name: 'dev', parent_id: 'br-main' });
    model.service.script = (each) => {
      if (!each.endsWith('/schema')) return script(each);
      const name = each.includes('br-dev') ? 'items' : 'orders';
      return { sql: `--\n-- Name: ${name}; Type: TABLE; Owner: a\n--\n\n${'CREATE TABLE a;\n'.repeat(2)}` };
    };
    const ids = { projectId: 'shop', branchId: 'br-dev' };
    const compared = await call('compareSchema', ids);
    assert.deepEqual([compared.database, compared.differs, compared.truncated], ['app', true, undefined]);
    assert.match(compared.diff, /^-- orders; Type: TABLE\n-CREATE TABLE a;/);
    assert.equal((await call('compareSchema', { ...ids, otherBranchId: 'br-dev' })).differs, false);
    await assert.rejects(call('compareSchema', { ...ids, branchId: 'br-main' }), /main has no parent/);
    await assert.rejects(call('compareSchema', { ...ids, otherBranchId: 'br-x' }), /shop has no branch br-x/);
    await assert.rejects(call('compareSchema', { ...ids, database: 'x' }), /no database x/);
  });

  it('limit a long comparison', async () => {
    branches.push({ id: 'br-dev', name: 'dev', parent_id: 'br-main' });
    const lines = Array.from({ length: 5000 }, (_, index) => `column_${index} text,`).join('\n');
    model.service.script = (each) =>
      each.endsWith('br-dev/schema')
        ? { sql: `--\n-- Name: a; Type: TABLE; Owner: a\n--\n\n${lines}` }
        : each.endsWith('/schema')
          ? { sql: '' }
          : script(each);
    const ids = { projectId: 'shop', branchId: 'br-dev' };
    const compared = await call('compareSchema', ids);
    const size = JSON.stringify(compared).length;
    assert.ok(size > 8000 && size <= MAX_OUTPUT, `${size} characters`);
    assert.match(compared.diff, /,$/);
    assert.deepEqual([compared.truncated, compared.note], [true, 'For more, set maxBytes.']);
    const all = await call('compareSchema', { ...ids, maxBytes: 200_000 });
    assert.match(all.diff, /column_4999 text,$/);
    assert.deepEqual([all.truncated, all.note], [undefined, undefined]);
  });

  it('return as many branches as fit, without links and control characters', async () => {
    for (let count = 0; count < 100; count += 1)
      branches.push({ id: `br-${count}`, name: `[x](command:y)\n${count}`, parent_id: 'br-main' });
    const { branches: listed, branchesLeftOut, truncated, note } = await call('listBranches', {});
    const { length } = listed;
    assert.ok(length > 50 && JSON.stringify(listed).length <= MAX_OUTPUT, `${length} branches`);
    assert.deepEqual([branchesLeftOut, truncated], [101 - length, true]);
    assert.equal(note, `For more, set skip to ${length}.`);
    const rest = await call('listBranches', { skip: length });
    assert.deepEqual(
      [rest.branches.length, rest.branchesLeftOut, rest.truncated],
      [101 - length, undefined, undefined],
    );
    assert.deepEqual([listed[1]?.name, listed[1]?.state], ['[x] (command:y) 0', 'ready']);
  });
});
