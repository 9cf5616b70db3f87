/** Timers: extension/agents/tools/createBranchTool.ts. */
import assert from 'node:assert/strict';
import path from 'node:path';
import type { Branch } from '../../../../src/api/records/records.ts';
import { AgentBranches, type AgentBranch } from '../../../../src/extension/inventory/agentBranches.ts';
import { MemoryMap } from '../../../helpers/connectedModel.ts';

const folder = (name: string) => path.resolve('/work', name);
const branch: AgentBranch = {
  account: 'local',
  projectId: 'shop',
  branchId: 'br-agent',
  name: 'agent/claude-1a2b',
  agent: 'claude',
  createdAt: '2030-01-01T00:00:00Z',
  expiresAt: '2030-01-02T00:00:00Z',
  worktree: folder('one'),
};
const record = (fields: Partial<Branch>): Branch => ({ id: 'br-agent', name: branch.name, ...fields });

describe('AgentBranches', () => {
  const project = { account: 'local', projectId: 'shop' };
  let now: number;
  let memory: MemoryMap;
  let branches: AgentBranches;
  const listed = (...list: readonly Branch[]) =>
    branches.update(project, { branches: new Map(list.map((each) => [each.id, each])), requestedAt: now });

  beforeEach(() => {
    now = Date.parse(branch.createdAt);
    memory = new MemoryMap();
    branches = new AgentBranches(memory, () => now);
    branches.add(branch);
  });

  it('belong to the agent that created them, in its worktree', () => {
    const caller = { agent: 'claude', worktree: folder('one') };
    assert.equal(branches.isMadeBy(branch, caller), true);
    assert.equal(branches.isMadeBy(branch, { agent: 'claude' }), true);
    for (const other of ['two', 'one/.claude/worktrees/two', '..'])
      assert.equal(branches.isMadeBy(branch, { ...caller, worktree: folder(other) }), false);
    assert.equal(branches.isMadeBy(branch, { ...caller, agent: 'codex' }), false);
  });

  it('are known by account, project and branch', () => {
    for (const other of [{ account: 'other' }, { projectId: 'blog' }, { branchId: 'br-other' }]) {
      assert.equal(branches.find({ ...branch, ...other }), undefined);
      assert.equal(branches.wasMadeByAgent({ ...branch, ...other }), false);
    }
  });

  it('are gone when they expire, and only their ids are kept', () => {
    now = Date.parse(branch.expiresAt);
    assert.deepEqual(branches.all, []);
    assert.equal(branches.isMadeBy(branch, branch), false);
    assert.equal(branches.wasMadeByAgent(branch), true);
    branches.add({ ...branch, branchId: 'br-new', expiresAt: '2030-02-01T00:00:00Z' });
    assert.deepEqual(
      branches.all.map(({ branchId }) => branchId),
      ['br-new'],
    );
    assert.doesNotMatch(JSON.stringify([...memory.entries][0]), /1a2b.*br-new/);
    assert.equal(branches.wasMadeByAgent(branch), true);
  });

  it('follow the list of the service', () => {
    let changes = 0;
    branches.onDidChange(() => (changes += 1));
    listed(record({ expires_at: branch.expiresAt }));
    assert.equal(changes, 0);
    listed(record({ name: 'renamed', expires_at: '2030-01-03T00:00:00Z' }));
    assert.deepEqual(branches.find(branch), {
      ...branch,
      name: 'renamed',
      expiresAt: '2030-01-03T00:00:00Z',
    });
    listed();
    assert.equal(branches.all.length, 1, 'an older list');
    now += 1;
    const none = { branches: new Map(), requestedAt: now };
    branches.update({ ...project, account: 'other' }, none);
    branches.update({ ...project, projectId: 'blog' }, none);
    assert.equal(changes, 1);
    listed();
    assert.deepEqual(branches.all, []);
    assert.equal(branches.wasMadeByAgent(branch), true);
  });

  it('stay although a list from just before their creation lacks them', () => {
    const { end } = branches.beginCreation(project);
    now += 999;
    const created = { ...branch, branchId: 'br-new' };
    end(created);
    listed();
    assert(branches.find(created));
  });

  it('are no longer counted as soon as a newer list lacks them', () => {
    now += 1;
    listed();
    assert.equal(branches.beginCreation(project).count, 0);
  });

  it('count each other while they are created, until they are there, fail or are forgotten', () => {
    const other = new AgentBranches(memory, () => now);
    const [first, second] = [branches.beginCreation(project), other.beginCreation(project)];
    assert.deepEqual([first.count, second.count], [1, 2]);
    assert.equal(branches.beginCreation({ ...project, projectId: 'blog' }).count, 0);
    first.end({ ...branch, branchId: 'br-first' });
    first.end();
    assert.ok(other.find({ ...branch, branchId: 'br-first' }));
    second.end();
    assert.equal(other.beginCreation(project).count, 2);
    now += 10 * 60_000 - 1;
    assert.equal(branches.beginCreation(project).count, 3);
    now += 1;
    assert.equal(branches.beginCreation(project).count, 3, 'without the one whose process was killed');
  });

  it('become the user’s when they no longer expire', () => {
    listed(record({ expires_at: null }));
    const { account, projectId, branchId } = branch;
    assert.deepEqual(memory.entries.get('hostedPostgres.agentBranches'), [{ account, projectId, branchId }]);
    listed(record({ expires_at: branch.expiresAt }));
    assert.equal(branches.find(branch), undefined);
  });

  it('leave out what is damaged', () => {
    const damaged = [
      undefined,
      1,
      'x',
      {},
      { ...branch, projectId: '../x' },
      { ...branch, branchId: 'ep-x' },
    ];
    memory.entries.set('hostedPostgres.agentBranches', [...damaged, { ...branch, expiresAt: 1 }]);
    assert.deepEqual(branches.all, []);
    assert.equal(branches.wasMadeByAgent(branch), true);
    memory.entries.set('hostedPostgres.agentBranches', 'x');
    assert.equal(branches.wasMadeByAgent(branch), false);
    const call = { time: '2030-01-01T00:00:00Z', agent: 'claude', tool: 'runSql', text: '' };
    memory.entries.set('hostedPostgres.agentCalls', [...damaged, { ...call, tool: undefined }, call]);
    assert.deepEqual(branches.calls, [call]);
  });

  it('remember the last 50 calls', () => {
    const call = { agent: 'claude', tool: 'resetBranch', branchId: 'br-agent' };
    for (let count = 1; count <= 52; count += 1) branches.addCall({ ...call, text: `${count}` });
    assert.equal(branches.calls.length, 50);
    assert.deepEqual(branches.calls.at(-1), { ...call, time: '2030-01-01T00:00:00.000Z', text: '52' });
  });

  it('remember at most 200 branches', () => {
    for (let count = 0; count < 205; count += 1) branches.add({ ...branch, branchId: `br-${count}` });
    assert.equal(branches.all.length, 200);
    assert.equal(branches.find(branch), undefined);
  });
});
