/** An open psql is named in the question before each change that ends its connection. */
import { answers, fakeTerminals, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import type { CommandId } from '../../../../../src/extension/commandTable/commandTable.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const { window } = await import('vscode');
const { approvalRequest, approveForAgent } =
  await import('../../../../../src/extension/agents/ui/approveForAgent.ts');
const { deleteBranches } = await import('../../../../../src/extension/branches/commands/deleteBranches.ts');
const { handleCommand } = await import('../../../../../src/extension/commandHandlers.ts');
const { rememberPsql } = await import('../../../../../src/extension/operations/ui/openPsql.ts');

const LOST = / The open psql loses its connection too\.(?! When)/;
const RECONNECTS =
  / The open psql loses its connection too\. When psql reports the lost connection, enter your command again\./;

describe('An open psql', () => {
  let model: ScriptedModel;
  let context: CommandContext;

  beforeEach(async () => {
    const branches = [
      { id: 'br-main', project_id: 'shop', name: 'main', default: true },
      { id: 'br-dev', project_id: 'shop', name: 'dev', parent_id: 'br-main' },
    ];
    const endpoints = [computeRecord('ep-main'), computeRecord('ep-dev', { branch_id: 'br-dev' })];
    model = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Shop' }] };
      return { branches, annotations: {}, endpoints, snapshots: [] };
    });
    await model.inventory.ensureProjects();
    await model.inventory.loadComputes('shop');
    await model.inventory.branches.ensureLoaded('shop');
    context = commandContext(model);
    questions.length = answers.length = fakeTerminals.opened.length = 0;
  });

  const project = { kind: 'project', projectId: 'shop' };
  const branch = { kind: 'branch', projectId: 'shop', branchId: 'br-dev' };
  const compute = { ...branch, kind: 'compute', computeId: 'ep-dev' };
  const open = (computeId: string) => rememberPsql(window.createTerminal({}), computeId);
  /** Opens a psql of another compute, asks, and asks again with one of this compute. @returns the two questions */
  const askTwice = async (ask: () => Promise<unknown>) => {
    open('ep-other');
    await ask();
    open('ep-dev');
    await ask();
    const [without = '', asked = ''] = questions;
    assert.doesNotMatch(without, /psql/);
    return asked;
  };

  for (const [command, row, expected] of [
    ['hostedPostgres.compute.delete', compute, LOST],
    ['hostedPostgres.branch.delete', branch, LOST],
    ['hostedPostgres.project.delete', project, LOST],
    ['hostedPostgres.project.replicate', project, RECONNECTS],
  ] as const satisfies readonly (readonly [CommandId, object, RegExp])[])
    it(`is named by ${command}`, async () => {
      assert.match(await askTwice(() => handleCommand(context, command, row)), expected);
    });

  it('is named before several branches are deleted, and their names stay apart', async () => {
    const chosen = ['br-dev', 'br-main'].map((branchId) => ({
      ref: { account: accountId(model.account), projectId: 'shop', branchId },
      title: branchId,
      forget: async () => undefined,
    }));
    const run = { failureMessage: '', ...model.options };
    const asked = await askTwice(() => deleteBranches(context, run, chosen, async () => []));
    assert.match(asked, LOST);
    assert.match(asked, /too\.\ndev \(Shop\)\nmain \(Shop\)$/);
  });

  for (const [change, expected] of [
    [{ kind: 'delete' }, LOST],
    [{ kind: 'reset', parent: 'main', slots: [] }, RECONNECTS],
    [{ kind: 'undo', to: 'noon', preserved: 'before-noon', slots: [] }, RECONNECTS],
    [{ kind: 'suspend', computeId: 'ep-dev' }, RECONNECTS],
    [{ kind: 'suspend', computeId: 'ep-dev', connections: 0 }, undefined],
    [{ kind: 'start', computeId: 'ep-dev' }, undefined],
  ] as const)
    it(`is named in the question of an agent: ${JSON.stringify(change)}`, async () => {
      const { inventory, guards, session } = model;
      const target = { projectId: 'shop', branchId: 'br-dev', name: 'dev', agent: 'claude' };
      const signal = new AbortController().signal;
      const ask = () =>
        approveForAgent(
          { guards },
          approvalRequest(inventory, { ...target, ...change }),
          session.requireConnection(),
          signal,
        ).catch(() => undefined);
      const asked = await askTwice(ask);
      if (expected === undefined) assert.doesNotMatch(asked, /psql/);
      else assert.match(asked, expected);
    });
});
