import { answers, executed, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { ApiError } from '../../../../../src/api/transport/errors.ts';
import type { CommandContext } from '../../../../../src/extension/commandSupport/context.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';

const { window } = await import('vscode');
const { connectAccount, disconnectAccount } =
  await import('../../../../../src/extension/signIn/commands/account.ts');
const { showFailure } = await import('../../../../../src/extension/account/ui/notify.ts');

const run = { failureMessage: '', initialConnection: undefined };

describe('Disconnect', () => {
  it('says nothing of a key for the local service, whose key stays', async () => {
    const { accounts, account, session } = await connectScripted(() => ({ projects: [] }));
    await accounts.add({ ...account, local: true }, 'key');
    await session.reread();
    questions.length = 0;
    await disconnectAccount({ accounts, session } as CommandContext, undefined, run);
    assert.deepEqual(questions, ['Disconnect from Local service? Its projects, computes and data are kept.']);
  });
});

describe('Enter New Key…', () => {
  const prompts: string[] = [];
  /** An input box that the user closes. */
  const createInputBox = () => {
    const nothing = () => ({ dispose: () => undefined });
    const events = { onDidTriggerButton: nothing, onDidChangeValue: nothing, onDidAccept: nothing };
    return {
      ...events,
      prompt: '',
      onDidHide(listener: () => void) {
        prompts.push(this.prompt);
        listener();
        return nothing();
      },
      show: () => undefined,
      dispose: () => undefined,
    };
  };

  const { createInputBox: createOther } = window;
  before(() => Object.assign(window, { createInputBox }));
  after(() => Object.assign(window, { createInputBox: createOther }));

  it('asks for the key of the account that failed, also if the window has switched to another one', async () => {
    const { accounts, account, session } = await connectScripted(() => ({ projects: [] }));
    const other = { ...account, baseUrl: 'https://other.example.com/api/v2' } as typeof account;
    await accounts.add(other, 'key');
    await session.reread();
    const fault = { kind: 'rejected', status: 401, code: '', requestId: '', retryAfter: undefined } as const;
    answers.push('Enter New Key…');
    await showFailure("Couldn't restart", new ApiError('No', fault), assert.fail, { account });
    const [, argument] = executed.at(-1) ?? [];
    await connectAccount({ accounts, session } as CommandContext, argument, run);
    assert.deepEqual(prompts, [`API key for ${account.baseUrl}`]);
  });
});
