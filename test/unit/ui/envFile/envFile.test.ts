import { questions } from '../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { Uri } from 'vscode';

const { prepareEnv } = await import('../../../../src/ui/envFile/envFile.ts');

describe('prepareEnv', () => {
  it('asks before it writes to a virtual file system, where Git cannot be asked', async () => {
    questions.length = 0;
    const uri = { scheme: 'vscode-vfs', fsPath: '/shop/.env' } as Uri;
    assert.equal(await prepareEnv({ uri, file: '.env', name: 'DATABASE_URL' }), undefined);
    assert.deepEqual(questions, [
      "Couldn't check whether Git ignores .env. Write the connection string to it? " +
        'If you commit this file, everyone with access to the repository can read the password.',
    ]);
  });
});
