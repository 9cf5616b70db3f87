import { answers, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { computeNodeOf } from '../../../../../src/extension/inventory/nodes.ts';
import { AccountSwitchedError } from '../../../../../src/extension/window/changeErrors.ts';
import { connectScripted } from '../../../../helpers/connectedModel.ts';
import { createRepository } from '../../../../helpers/gitRepository.ts';
import { computeRecord } from '../../../../helpers/scriptedService.ts';
import { until } from '../../../../workbench/until.ts';
import { commandContext } from '../../../../helpers/commandContext.ts';

const { Uri, workspace } = await import('vscode');
const { writeEnv } = await import('../../../../../src/extension/gitBranch/commands/writeEnv.ts');

describe('Write DATABASE_URL to .env', () => {
  after(() => Object.assign(workspace, { workspaceFolders: undefined, textDocuments: undefined }));

  it('writes nothing if the account is switched during a question', async () => {
    const compute = computeRecord('ep-one', { host: '127.0.0.1:15432' });
    const model = await connectScripted((call) => {
      if (call.endsWith('/endpoints')) return { endpoints: [compute] };
      if (call.endsWith('/roles')) return { roles: [{ name: 'me' }] };
      if (call.endsWith('/databases')) return { databases: [{ name: 'app', owner_name: 'me' }] };
      return { uri: 'postgresql://me:secret@127.0.0.1:15432/app' };
    });
    const { session, accounts, account } = model;
    const { folder } = createRepository();
    const uri = Uri.file(folder);
    Object.assign(workspace, { workspaceFolders: [{ uri }], textDocuments: [] });
    const config = {
      envFileSettings: () => ({ file: '.env', variable: 'DATABASE_URL' }),
      configuredLogin: () => ({ role: '', database: '' }),
    };
    const context = commandContext(model, { config });
    const run = { failureMessage: '', initialConnection: session.connection };
    questions.length = 0;
    const switched = async () => {
      await until('the question', async () => questions.length > 0);
      await accounts.add({ ...account, name: 'other' }, 'key');
      await session.reread();
      return 'Write Anyway';
    };
    answers.push(switched());
    await assert.rejects(
      async () => await writeEnv(context, computeNodeOf(compute), run),
      AccountSwitchedError,
    );
    assert(!existsSync(path.join(realpathSync(folder), '.env')));
  });
});
