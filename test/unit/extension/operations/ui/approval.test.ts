import { answers, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { AccountConnection } from '../../../../../src/extension/account/accountConnection.ts';
import type { Account } from '../../../../../src/extension/account/accounts.ts';
import {
  connectScripted,
  type ConnectedModel,
  type ScriptedModel,
} from '../../../../helpers/connectedModel.ts';
import { until } from '../../../../workbench/until.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';

const approval = await import('../../../../../src/extension/operations/ui/approval.ts');
const { explainError } = await import('../../../../../src/extension/window/ui/errorMessage.ts');

type Change = Parameters<typeof approval.approveChange>[1];
const approve = (
  guards: ConnectedModel['guards'],
  asked: Change,
  initialConnection: AccountConnection | undefined = guards.connection,
) => approval.approveChange(guards, asked, initialConnection);

describe('approveChange', () => {
  let store: ScriptedModel;
  let branches: unknown[];

  beforeEach(async () => {
    branches = [{ id: 'br-main', project_id: 'shop', name: 'main' }];
    store = await connectScripted(() => ({ branches, annotations: {} }));
    answers.length = 0;
    questions.length = 0;
  });

  const target = { projectId: 'shop', branchId: 'br-main', name: 'main' };
  const change = { ...target, question: 'Restart main?', button: 'Restart' };
  const severe = { ...change, detail: 'Its connections are dropped.' };

  it('asks nothing about a change without consequences', async () => {
    assert.equal(await approve(store.guards, change), true);
    assert.deepEqual(questions, []);
  });

  it('asks whether to make a change with consequences', async () => {
    answers.push('Restart', undefined);
    assert.equal(await approve(store.guards, severe), true);
    assert.equal(await approve(store.guards, severe), false);
    assert.deepEqual(questions, Array(2).fill('Restart main? Its connections are dropped.'));
  });

  it('asks for the name in production, until it is complete', async () => {
    store.marks['shop'] = 'production';
    answers.push('ma', ' main ');
    assert.equal(await approve(store.guards, severe), true);
    assert.equal(questions.length, 2);
    assert.match(questions[0] ?? '', /connections are dropped\. This is production\. Enter “main”/);
    assert.equal(await approve(store.guards, change), false);
  });

  it('asks for a name even if it is blank', async () => {
    store.marks['shop'] = 'production';
    assert.equal(await approve(store.guards, { ...severe, name: ' ' }), false);
    assert.equal(questions.length, 1);
  });

  it('treats a protected branch as production, even if another client has just protected it', async () => {
    await store.inventory.branches.ensureLoaded('shop');
    branches = [{ id: 'br-main', project_id: 'shop', name: 'main', protected: true }];
    answers.push('main');
    assert.equal(await approve(store.guards, change), true);
    assert.match(questions.join(), /This is production/);
  });

  it('treats a branch as production that was protected while the question was open', async () => {
    await store.inventory.branches.ensureLoaded('shop');
    const answer = Promise.withResolvers<string>();
    answers.push(answer.promise, 'main');
    const approving = approve(store.guards, severe);
    await until('the question', async () => questions.length === 1);
    await store.inventory.branches.refresh('shop');
    branches = [{ id: 'br-main', project_id: 'shop', name: 'main', protected: true }];
    store.clock.advance(11_000);
    answer.resolve('Restart');
    assert.equal(await approving, true);
    assert.match(questions[1] ?? '', /This is production/);
  });

  it('asks for the name if another client has moved the compute to a protected branch', async () => {
    branches = [
      { id: 'br-main', project_id: 'shop', name: 'main', protected: true },
      { id: 'br-dev', project_id: 'shop', name: 'dev' },
    ];
    let branch_id = 'br-dev';
    store.service.script = (call) =>
      call.endsWith('/branches')
        ? { branches, annotations: {} }
        : { endpoints: [computeRecord('ep-one', { branch_id })] };
    await store.inventory.loadComputes('shop');
    await store.inventory.branches.ensureLoaded('shop');
    branch_id = 'br-main';
    const compute = { projectId: 'shop', branchId: 'br-dev', computeId: 'ep-one', name: 'one' };
    answers.push('one');
    assert.equal(await approve(store.guards, { ...compute, question: 'Start one?', button: 'Start' }), true);
    assert.match(questions.join(), /This is production. Enter “one”/);
  });

  describe('while the list of branches hangs', () => {
    let listed: PromiseWithResolvers<unknown>;
    const hang = () => {
      listed = Promise.withResolvers();
      store.service.script = (call) => (call.endsWith('/branches') ? listed.promise : {});
    };
    const waitFiveSeconds = async () => {
      await until('the wait', async () => store.clock.waits.length > 0);
      assert.equal(store.clock.next(), 5000);
    };
    const isAsked = () => until('a question', async () => questions.length > 0);

    it('asks for the name after five seconds if no list was loaded before', async () => {
      for (const one of [change, severe]) {
        hang();
        questions.length = 0;
        answers.push('main');
        const approving = approve(store.guards, one);
        await waitFiveSeconds();
        assert.equal(await approving, true);
        assert.match(questions.join(), /Couldn't check whether the branch is protected. Enter “main”/);
        listed.resolve(500);
        await store.inventory.branches.refresh('shop');
      }
    });

    it('asks at once if a list was loaded before, and once more if it turns out to be old', async () => {
      await store.inventory.branches.ensureLoaded('shop');
      hang();
      answers.push('Restart', 'main');
      const approving = approve(store.guards, severe);
      await isAsked();
      assert.deepEqual(questions, ['Restart main? Its connections are dropped.']);
      listed.resolve({ branches: [{ id: 'br-main', name: 'main', protected: true }], annotations: {} });
      assert.equal(await approving, true);
      assert.match(questions[1] ?? '', /This is production/);
    });

    it('uses the list loaded before after five seconds', async () => {
      await store.inventory.branches.ensureLoaded('shop');
      hang();
      answers.push('Restart');
      const approving = approve(store.guards, severe);
      await waitFiveSeconds();
      assert.equal(await approving, true);
      assert.equal(questions.length, 1);
      listed.resolve(500);
    });
  });

  it('asks for the name if the service fails to list branches', async () => {
    store.service.script = () => 503;
    answers.push('main');
    assert.equal(await approve(store.guards, change), true);
    assert.match(questions.join(), /Couldn't check whether the branch is protected/);
  });

  for (const status of [403, 404, 405])
    it(`asks nothing more if the service offers no branches (${status})`, async () => {
      store.service.script = (call) => (call.endsWith('/branches') ? status : { endpoints: [] });
      assert.equal(await approve(store.guards, change), true);
      assert.deepEqual(questions, []);
    });

  it('rejects each change of a project or account marked as read-only, and offers to change the mark', async () => {
    store.marks['shop'] = 'readOnly';
    const error: unknown = await approve(store.guards, severe).catch((reason: unknown) => reason);
    assert.deepEqual(explainError(error), {
      message: 'You have protected the project shop as read-only.',
      action: 'mark',
    });
    assert.equal(await approve(store.guards, { ...change, projectId: 'other' }), true);
    store.marks[store.service.baseUrl] = 'readOnly';
    for (const one of [change, { name: 'ci', question: 'Revoke ci?', button: 'Revoke' }])
      await assert.rejects(approve(store.guards, one), /this account as read-only/);
    assert.deepEqual(questions, []);
  });

  describe('when another window switches the account', () => {
    const key = {
      name: 'ci',
      question: 'Create API key ci?',
      button: 'Create',
      detail: 'It has all rights.',
    };
    const connectTo = async (account: Account, value: string) => {
      const { connection } = store.session;
      await store.accounts.add(account, value);
      await until('the connection', async () => store.session.connection !== connection);
    };
    const other = () => ({ ...store.account, name: 'other' });

    for (const [kind, isProduction, answer] of [
      ['the confirmation', false, 'Create'],
      ['the question for a name', true, 'ci'],
    ] as const)
      it(`throws if that happens during ${kind}`, async () => {
        if (isProduction) store.marks[store.service.baseUrl] = 'production';
        const answered = Promise.withResolvers<string>();
        answers.push(answered.promise);
        const approving = approve(store.guards, key);
        await until('the question', async () => questions.length === 1);
        await connectTo(other(), 'key');
        answered.resolve(answer);
        await assert.rejects(approving, /switched to another account. Nothing was changed/);
      });

    it('throws without a question if that happened since the command began', async () => {
      const since = store.session.connection;
      await connectTo(other(), 'key');
      await assert.rejects(approve(store.guards, key, since), /switched to another account/);
      assert.deepEqual(questions, []);
    });

    it('continues with another key of the account', async () => {
      const since = store.session.connection;
      await connectTo(store.account, 'another key');
      answers.push('Create');
      assert.equal(await approve(store.guards, key, since), true);
    });
  });
});
