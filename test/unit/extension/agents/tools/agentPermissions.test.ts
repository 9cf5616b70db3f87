/** Timers: extension/agents/ui/approveForAgent.ts. */
import { answers, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import path from 'node:path';
import type { Branch } from '../../../../../src/api/records/records.ts';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import { AgentBranches } from '../../../../../src/extension/inventory/agentBranches.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../../helpers/connectedModel.ts';
import { holdReply, scriptService, type ScriptedService } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';

const { findGatedBranch } = await import('../../../../../src/extension/agents/tools/agentPermissions.ts');
const { approveForAgent } = await import('../../../../../src/extension/agents/ui/approveForAgent.ts');

const ids = { projectId: 'shop', branchId: 'br-agent' };
const caller = { agent: 'claude', worktree: path.resolve('/repo/task') };
const expires_at = new Date(Date.now() + 3_600_000).toISOString();

describe('The gate of agents', () => {
  let service: ScriptedService;
  let model: ConnectedModel;
  let agentBranches: AgentBranches;
  let main: Branch;
  let made: Branch;
  let others: Branch[];
  /** The projects that exist. */
  let projects: string[];

  const find = (target = ids, by = caller) => {
    const deps = { ...model, agentBranches };
    const connection = model.session.requireConnection();
    return findGatedBranch({ ...by, deps, connection, account: accountId(model.account) }, target);
  };
  const isOwn = async (by = caller) => (await find(ids, by)).isOwn;
  const remember = (account = accountId(model.account)) =>
    agentBranches.add({
      ...ids,
      ...caller,
      account,
      name: 'agent/claude-1a2b',
      createdAt: new Date(Date.now() - 3_600_000).toISOString(),
      expiresAt: expires_at,
    });

  beforeEach(async () => {
    answers.length = 0;
    questions.length = 0;
    main = { id: 'br-main', name: 'main', default: true };
    made = { id: 'br-agent', name: 'agent/claude-1a2b', parent_id: 'br-main', expires_at };
    others = [];
    projects = ['shop'];
    service = await scriptService((call) => {
      const project = /\/projects\/(\w+)/.exec(call)?.[1] ?? '';
      if (!projects.includes(project)) return 404;
      return call.endsWith('/branches') ? { branches: [main, made, ...others] } : { endpoints: [] };
    });
    model = await connectModel(service);
    agentBranches = new AgentBranches(new MemoryMap());
    remember();
  });

  it('is open for a branch that the agent has created', async () => {
    assert.equal(await isOwn(), true);
    assert.deepEqual(questions, []);
  });

  it('is closed where the service does not list branches', async () => {
    const { script } = service;
    service.script = (call) => (call.endsWith('/branches') ? 405 : script(call));
    await assert.rejects(find(), /doesn't list branches, or this API key doesn't allow it/);
  });

  it('is closed for a branch of the user or of another agent', async () => {
    assert.equal(await isOwn({ ...caller, agent: 'codex' }), false);
    assert.equal(await isOwn({ ...caller, worktree: path.resolve('/repo/other') }), false);
    agentBranches.remove({ account: accountId(model.account), ...ids });
    assert.equal(await isOwn(), false);
  });

  for (const [what, fields] of [
    ['the default branch', { default: true }],
    ['a protected branch', { protected: true }],
    ['a branch that the user keeps', { expires_at: null }],
  ] as const)
    it(`is closed for ${what}`, async () => {
      made = { ...made, ...fields };
      assert.equal(await isOwn(), false);
    });

  it('is closed for a parent, even of a branch of the agent', async () => {
    others = [{ id: 'br-child', name: 'child', parent_id: 'br-agent' }];
    assert.equal(await isOwn(), false);
  });

  for (const mark of ['production', 'readOnly'] as const)
    it(`is closed in a project or account marked as ${mark}`, async () => {
      model.marks['shop'] = mark;
      assert.equal(await isOwn(), false);
      delete model.marks['shop'];
      assert.equal(await isOwn(), true);
      model.marks[accountId(model.account)] = mark;
      assert.equal(await isOwn(), false);
    });

  it('is closed for the same ids in another account', async () => {
    agentBranches = new AgentBranches(new MemoryMap());
    remember('https://other.example.test/api/v2');
    assert.equal(await isOwn(), false);
  });

  it('knows no branch of another project, and none that is gone', async () => {
    await assert.rejects(find({ ...ids, projectId: 'blog' }), /Couldn't load the branches of blog/);
    await assert.rejects(find({ ...ids, branchId: 'br-other' }), /shop has no branch br-other/);
    made = { ...made, id: 'br-replaced' };
    await assert.rejects(find(), /shop has no branch br-agent/);
    assert.deepEqual(agentBranches.all, []);
  });

  it('does not decide by a reply that the service gave before the call', async () => {
    const held = holdReply(service, '/branches');
    const earlier = model.inventory.branches.refresh('shop');
    const send = await held;
    made = { ...made, protected: true };
    const own = isOwn();
    send();
    assert.equal(await own, false);
    await earlier;
  });

  it('does not decide by an old list', async () => {
    assert.equal(await isOwn(), true);
    service.script = () => 503;
    await assert.rejects(isOwn(), /503/);
  });

  describe('approveForAgent', () => {
    const change = { ...ids, name: 'main', question: 'Let claude delete main?', button: 'Delete' };
    const severe = { ...change, detail: 'Its data is deleted.' };
    const approve = (
      asked: Parameters<typeof approveForAgent>[1] = severe,
      signal = new AbortController().signal,
    ) => {
      assert.ok(model.guards.connection);
      return approveForAgent(model, asked, model.guards.connection, signal);
    };

    it('lets the user decide', async () => {
      answers.push('Delete', undefined);
      await approve();
      await assert.rejects(approve(), /The user did not approve this/);
      assert.equal(questions.length, 2);
    });

    for (const mark of ['production', 'readOnly'] as const)
      it(`asks one question before reading in a ${mark} project, and asks for no name`, async () => {
        model.marks['shop'] = mark;
        answers.push('Read', undefined);
        const reading = { ...severe, button: 'Read', isReading: true };
        await approve(reading);
        await assert.rejects(approve(reading), /did not approve/);
        assert.equal(questions.length, 2);
        if (mark === 'readOnly') await assert.rejects(approve(), /read-only/);
      });

    it('stops waiting after a minute, and ignores a later answer', async () => {
      const answer = Promise.withResolvers<string>();
      answers.push(answer.promise);
      const late = approve();
      await until('the question', async () => questions.length === 1);
      const next = approve();
      while (model.clock.waits.length > 0) model.clock.next();
      await assert.rejects(late, /did not answer within 60 seconds/);
      await assert.rejects(next, /did not answer within 60 seconds/);
      answer.resolve('Delete');
      await until('the notice', async () => questions.some((text) => /no longer waits/.test(text)));
      assert.equal(questions.filter((text) => /delete main/.test(text)).length, 1);
    });

    it('asks the next question although nobody has answered the last one', async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      answers.push(promise, 'Delete');
      const late = approve();
      await until('the question', async () => questions.length === 1);
      model.clock.next();
      await assert.rejects(late, /did not answer within 60 seconds/);
      const next = approve();
      await until('the next question', async () => questions.length === 2);
      await next;
      // An open message would keep others from being shown.
      resolve(undefined);
    });

    it('asks one question at a time', async () => {
      const first = Promise.withResolvers<string>();
      answers.push(first.promise, 'Delete');
      const both = [approve(), approve()];
      await until('the question', async () => questions.length === 1);
      await approve(change);
      first.resolve('Delete');
      await Promise.all(both);
      assert.equal(questions.length, 2);
    });

    it('asks one question at a time also after a call has ended that waited', async () => {
      const first = Promise.withResolvers<string>();
      answers.push(first.promise, 'Delete');
      const asked = approve();
      await until('the question', async () => questions.length === 1);
      const controller = new AbortController();
      const waiting = approve(severe, controller.signal);
      const next = approve();
      controller.abort();
      await assert.rejects(waiting, /did not approve/);
      await approve(change);
      assert.equal(questions.length, 1);
      first.resolve('Delete');
      await Promise.all([asked, next]);
      assert.equal(questions.length, 2);
    });

    it('ends with the call', async () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      answers.push(promise);
      const controller = new AbortController();
      const waiting = approve(severe, controller.signal);
      await until('the question', async () => questions.length === 1);
      controller.abort();
      await assert.rejects(waiting, /did not approve/);
      // An open message would keep others from being shown.
      resolve(undefined);
    });
  });
});
