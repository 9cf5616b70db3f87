import { answers, questions, quickPicks } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { CommandRun } from '../../../../../src/extension/commandSupport/context.ts';
import { connectScripted, type ScriptedModel } from '../../../../helpers/connectedModel.ts';

import { until } from '../../../../workbench/until.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { resetPassword } = await import('../../../../../src/extension/connection/commands/resetPassword.ts');
const { explainError } = await import('../../../../../src/extension/window/ui/errorMessage.ts');

describe('resetPassword', () => {
  let store: ScriptedModel;
  let status: number;
  let lastRun: CommandRun;

  beforeEach(async () => {
    questions.length = 0;
    store = await connectScripted((call) => {
      if (call.endsWith('/reset_password')) return status;
      if (call.endsWith('/roles')) return { roles: [{ name: 'ada', branch_id: 'br-dev' }] };
      if (call.endsWith('/endpoints')) return { endpoints: [] };
      if (call.endsWith('/branches')) return { branches: [{ id: 'br-dev', name: 'dev' }] };
      return { projects: [{ id: 'shop', name: 'shop' }] };
    });
  });
  afterEach(() => void answers.splice(0));

  /** Accepts each first item. */
  async function run(...placeholders: string[]): Promise<void> {
    lastRun = { failureMessage: '', initialConnection: store.session.connection };
    answers.push('Reset Password');
    const done = resetPassword(commandContext(store), undefined, lastRun);
    const accepted = (async () => {
      for (const placeholder of placeholders)
        (
          await until(placeholder, async () =>
            quickPicks.find((shown) => shown.placeholder === placeholder && shown.items.length > 0),
          )
        ).accept();
    })();
    await Promise.all([done, accepted]);
  }

  it('reaches a branch without computes, and says what a service without the call does not support', async () => {
    for (status of [403, 404, 405])
      await assert.rejects(run('Select a branch', 'Select a role'), {
        name: 'NotOfferedError',
        feature: 'passwords',
      });
    assert.match(questions[0] ?? '', /^Reset the password of ada on dev \(shop\)\? This can't be undone/);
  });

  it('says that the old password may no longer work if the reply is lost', async () => {
    status = 502;
    const error: unknown = await run('Select a branch', 'Select a role').catch((reason: unknown) => reason);
    const { message } = explainError(error, lastRun.unknownOutcome);
    assert.equal(message, 'status 502. The old password may no longer work.');
  });

  it('passes on other errors', async () => {
    status = 422;
    await assert.rejects(run('Select a branch', 'Select a role'), /status 422/);
  });
});
