import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { listTools } from '../../../../../src/extension/agents/tools/toolTable.ts';
import type { KnownBranch } from '../../../../../src/extension/gitBranch/knownHosts.ts';
import { callTool } from '../../../../helpers/callTool.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { toolDependencies } from '../../../../helpers/toolDependencies.ts';

const LATER = new Date(Date.now() + 3_600_000).toISOString();

describe('The tool markTurn', () => {
  let model: ScriptedModel;
  let folder: string;
  let env: { file: string; variable: string };
  let known: Partial<KnownBranch> | undefined;

  const refOf = (branchId: string) => ({ account: accountId(model.account), projectId: 'shop', branchId });
  const mark = async () => {
    const deps = toolDependencies(model);
    const knownHosts = { get: (host: string) => (host === 'ep-env.example.com' ? known : undefined) };
    const caller = { agent: 'claude-code', folder };
    const config = { envFileSettings: () => env };
    const all = { ...deps, config, knownHosts: knownHosts as typeof deps.knownHosts };
    return callTool(all, 'markTurn', {}, caller);
  };
  const own = (branchId: string, worktree: string) => {
    const made = { name: branchId, agent: 'claude-code', createdAt: LATER, expiresAt: LATER };
    model.agentBranches.add({ ...refOf(branchId), ...made, worktree });
  };

  beforeEach(async () => {
    folder = await realpath(temporaryFolder());
    model = await connectScripted(() => ({}));
    known = undefined;
    env = { file: '.env', variable: 'DATABASE_URL' };
  });

  it('marks the branches of agents in the worktree and that of the configured variable', async () => {
    own('br-mine', folder);
    own('br-other', path.join(folder, 'other'));
    known = { ...refOf('br-env'), isDeleted: false };
    env = { file: 'local.env', variable: 'PG_URL' };
    writeFileSync(path.join(folder, 'local.env'), 'PG_URL=postgresql://u:p@ep-env.example.com/app\n');
    assert.deepEqual(await mark(), { marked: ['br-mine', 'br-env'] });
    const [marker, ...others] = model.markers.ofBranch(refOf('br-env'));
    assert.deepEqual([marker?.kind, marker?.text, marker?.by, others], ['agent', '', 'claude-code', []]);
    assert.deepEqual(model.markers.ofBranch(refOf('br-other')), []);
  });

  it('marks no branch that is gone, or of another account', async () => {
    writeFileSync(path.join(folder, '.env'), 'DATABASE_URL=postgresql://u:p@ep-env.example.com/app\n');
    for (const change of [{ isDeleted: true }, { account: 'another' }]) {
      known = { ...refOf('br-env'), isDeleted: false, ...change };
      assert.deepEqual(await mark(), { marked: [] });
    }
  });

  it('is not among the tools that models read', () =>
    assert(!listTools().some(({ name }) => name === 'markTurn')));
});
