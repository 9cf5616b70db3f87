import { questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { AgentBranches } from '../../../../../src/extension/inventory/agentBranches.ts';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import { connectModel, MemoryMap } from '../../../../helpers/connectedModel.ts';
import { scriptService } from '../../../../helpers/scriptedService.ts';

const { deleteAgentBranches } = await import('../../../../../src/extension/agents/commands/agents.ts');

describe('Delete Agent Branches…', () => {
  /** The account's list has no project. @param status the status of the reply about the project of the agent's branch */
  const knownAfter = async (status: 200 | 404) => {
    const model = await connectModel(
      await scriptService((call) => {
        if (call.endsWith('/projects')) return { projects: [] };
        return status === 404 ? 404 : { endpoints: [], branches: [] };
      }),
    );
    const agentBranches = new AgentBranches(new MemoryMap());
    agentBranches.add({
      account: accountId(model.account),
      projectId: 'shop',
      branchId: 'br-agent',
      name: 'agent/claude-1a2b',
      agent: 'claude',
      createdAt: new Date(Date.now() - 3_600_000).toISOString(),
      expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const context = { ...model, agentBranches } as unknown as CommandContext;
    questions.length = 0;
    await deleteAgentBranches(context, undefined, { initialConnection: model.session.connection } as never);
    return agentBranches.all.length;
  };

  it('keeps what agents own in another organization, whose projects are not listed', async () => {
    assert.equal(await knownAfter(200), 1);
  });

  it('forgets the branches of a deleted project', async () => {
    assert.equal(await knownAfter(404), 0);
  });
});
