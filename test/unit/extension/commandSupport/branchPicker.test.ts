import { quickPicks, type FakeQuickPick } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Branch } from '../../../../src/api/records/records.ts';
import { deletionProblem } from '../../../../src/extension/inventory/branchStatus.ts';
import { LastCompute } from '../../../../src/extension/computes/lastCompute.ts';
import type { ComputeNode } from '../../../../src/extension/inventory/nodes.ts';
import { connectScripted, MemoryMap, type ScriptedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../helpers/scriptedService.ts';
import { until } from '../../../workbench/until.ts';
import { commandContext, fakeView } from '../../../helpers/commandContext.ts';

const { branchQuestion, pickBranch, requireBranches } =
  await import('../../../../src/extension/commandSupport/branchPicker.ts');

describe('requireBranches', () => {
  let store: ScriptedModel;
  let branches: unknown;

  beforeEach(async () => {
    store = await connectScripted(() => (typeof branches === 'number' ? branches : { branches }));
  });

  it('shows no reason against a change that another client has removed', async () => {
    const dev = { id: 'br-dev', name: 'dev', parent_id: 'br-main' };
    branches = [dev, { id: 'br-child', name: 'child', parent_id: 'br-dev' }];
    await store.inventory.branches.ensureLoaded('shop');
    branches = [dev];
    const list = await requireBranches(store, 'shop');
    const branch = list.branches.get('br-dev');
    assert.ok(branch);
    assert.equal(deletionProblem(list, branch), undefined);
  });

  it('throws rather than returns an old list, which may lack a child', async () => {
    branches = [{ id: 'br-dev', name: 'dev' }];
    await requireBranches(store, 'shop');
    branches = 500;
    await assert.rejects(requireBranches(store, 'shop'), /status 500/);
    branches = [];
    assert.equal((await requireBranches(store, 'shop')).branches.size, 0);
  });

  it('says whether the service does not offer branches or could not be reached', async () => {
    branches = 500;
    await assert.rejects(requireBranches(store, 'shop'), /status 500/);
    branches = 405;
    await assert.rejects(requireBranches(store, 'shop'), /doesn't support changing branches/);
  });
});

describe('branchQuestion', () => {
  it('fails rather than offers only the branches with computes if the others could not be loaded', async () => {
    let branches: unknown = 500;
    const store = await connectScripted((call) =>
      call.endsWith('/branches') ? branches : { endpoints: [computeRecord('ep-one')] },
    );
    const question = branchQuestion(store, { projectId: 'shop', placeholder: 'Which branch?' });
    const position = { title: 'Create', step: 1, totalSteps: 1, canGoBack: false };
    await assert.rejects(question(position as never), /status 500/);
    branches = { branches: [{ id: 'br-empty', name: 'empty' }] };
    const asked = question(position as never);
    const shown = await until('the question', async () =>
      quickPicks.find((each) => each.placeholder === 'Which branch?' && each.items.length === 2),
    );
    shown.accept();
    await asked;
  });
});

describe('pickBranch', () => {
  let store: ScriptedModel;
  let lastCompute: LastCompute;

  beforeEach(async () => {
    const projects = ['shop', 'blog'].map((id) => ({ id, name: id }));
    const branches = ['main', 'dev', 'qa'].map((name) => ({
      id: `br-${name}`,
      name,
      default: name === 'main',
    }));
    // It moved from br-dev to br-qa.
    const endpoints = [computeRecord('ep-one', { branch_id: 'br-qa' })];
    store = await connectScripted((call) => {
      if (call.endsWith('/endpoints')) return { endpoints };
      return call.endsWith('/branches') ? { branches } : { projects };
    });
    lastCompute = new LastCompute(store.session, new MemoryMap());
  });

  const row = { kind: 'branch', projectId: 'shop', branchId: 'br-dev' } as const;
  const lastOne: ComputeNode = { ...row, kind: 'compute', computeId: 'ep-one' };
  const pick = (selection: readonly unknown[], problem?: (branch: Branch) => string | undefined) => {
    const context = commandContext(store, { lastCompute, computesView: fakeView(selection) });
    return pickBranch(context, 'Protect Branch', undefined, problem);
  };
  const asked = (placeholder: string): Promise<FakeQuickPick> =>
    until(placeholder, async () =>
      quickPicks.find((shown) => shown.placeholder === placeholder && shown.items.length > 0),
    );

  it('starts with the selected branch and its project', async () => {
    const picked = pick([row]);
    const question = await asked('Select a branch');
    assert.equal(question.active, 'dev');
    question.accept();
    assert.equal((await picked)?.branchId, 'br-dev');
  });

  it('starts with the branch that the compute used last is on now', async () => {
    await lastCompute.remember(lastOne);
    await store.inventory.loadComputes('shop');
    const picked = pick([]);
    (await asked('Select a branch')).accept();
    assert.equal((await picked)?.branchId, 'br-qa');
  });

  it('prefers the selected row to the compute that was used last', async () => {
    await lastCompute.remember(lastOne);
    const picked = pick([{ kind: 'project', projectId: 'blog' }]);
    (await asked('Select a branch')).accept();
    assert.deepEqual([(await picked)?.projectId, (await picked)?.branchId], ['blog', 'br-main']);
  });

  it("picks no other branch if the selected one can't be picked", async () => {
    const picked = pick([row], () => 'already protected');
    const question = await asked('Select a branch');
    assert.equal(question.active, 'dev');
    question.accept();
    assert.ok(quickPicks.includes(question));
    question.cancel();
    assert.equal(await picked, undefined);
  });

  it('starts with the first one that can be picked if no branch is selected', async () => {
    const picked = pick([{ kind: 'project', projectId: 'shop' }], ({ name }) =>
      name === 'main' ? 'has no parent' : undefined,
    );
    const question = await asked('Select a branch');
    assert.equal(question.active, 'dev');
    question.accept();
    assert.equal((await picked)?.branchId, 'br-dev');
  });

  it('offers the other projects with Back', async () => {
    const picked = pick([row]);
    (await asked('Select a branch')).back();
    const projects = await asked('Select a project');
    assert.equal(projects.active, 'shop');
    projects.down();
    projects.accept();
    (await asked('Select a branch')).accept();
    assert.deepEqual([(await picked)?.projectId, (await picked)?.branchId], ['blog', 'br-main']);
  });

  it('asks for the project if nothing says which', async () => {
    await lastCompute.remember({ ...lastOne, projectId: 'deleted' });
    const picked = pick([]);
    (await asked('Select a project')).cancel();
    assert.equal(await picked, undefined);
  });
});
