import { answers, executed, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { accountId } from '../../../../../src/extension/account/accounts.ts';
import {
  BranchActions,
  type UnprotectedBranch,
} from '../../../../../src/extension/branches/branchActions.ts';
import {
  connectScripted,
  RecoveryRecordMap,
  type ScriptedModel,
} from '../../../../helpers/connectedModel.ts';
import { until } from '../../../../workbench/until.ts';

const { Log } = await import('../../../../../src/extension/window/ui/log.ts');
const { protectAbandonedBranches } =
  await import('../../../../../src/extension/branches/ui/protectAbandoned.ts');

describe('protectAbandonedBranches', () => {
  let store: ScriptedModel;
  let records: RecoveryRecordMap<UnprotectedBranch>;
  let status: number | undefined;

  beforeEach(async () => {
    status = undefined;
    answers.length = questions.length = executed.length = 0;
    const branch = { id: 'br-dev', name: 'dev', protected: false };
    store = await connectScripted((call) => {
      if (call === 'GET /projects') return { projects: [{ id: 'shop', name: 'Store' }] };
      if (call.startsWith('GET')) return { branches: [branch], endpoints: [] };
      return status ?? { branch: { ...branch, protected: true } };
    });
    records = new RecoveryRecordMap();
    const account = accountId(store.account);
    // An earlier window has left this record.
    await records.set(JSON.stringify([account, 'shop', 'br-dev']), {
      account,
      projectId: 'shop',
      branchId: 'br-dev',
      name: 'dev',
    });
  });

  /** Connects with another key, as at the start of a window. */
  async function start(): Promise<void> {
    const { session, inventory, sender, guards } = store;
    const branchActions = new BranchActions(session, inventory, sender, records);
    protectAbandonedBranches({ session, branchActions, guards, inventory, log: new Log() });
    await store.accounts.add(store.account, 'other-key');
  }
  const question = () => until('a message', async () => questions[0]);

  it('protects the branch and says so', async () => {
    await start();
    assert.match(
      await question(),
      /The deletion of dev \(Store\) was interrupted. The branch is protected again/,
    );
    assert.deepEqual(records.all(), []);
  });

  it('says nothing if the branch was deleted', async () => {
    status = 404;
    await start();
    await until('the end of the record', async () => records.all().length === 0);
    assert.deepEqual(questions, []);
  });

  it('offers to protect the branch if that failed, and tries again at the next start', async () => {
    status = 500;
    answers.push('Protect Branch');
    await start();
    assert.match(await question(), /may no longer be protected: status 500/);
    const node = { kind: 'branch', projectId: 'shop', branchId: 'br-dev' };
    await until('the command', async () => executed.length === 1);
    assert.deepEqual(executed, [['hostedPostgres.branch.protect', node]]);
    assert.equal(records.all().length, 1);
  });

  it('changes nothing in a project marked as read-only', async () => {
    store.marks['shop'] = 'readOnly';
    await start();
    assert.match(
      await question(),
      /may no longer be protected: You have protected the project shop as read-only/,
    );
    assert.equal(
      store.service.requests.some((call) => call.startsWith('PATCH')),
      false,
    );
  });
});
