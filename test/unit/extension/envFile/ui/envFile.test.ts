import { answers, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Uri } from 'vscode';
import { createRepository } from '../../../../helpers/gitRepository.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';

const { prepareEnvWrite } = await import('../../../../../src/extension/envFile/ui/envFile.ts');
const { workspace } = await import('vscode');

const URL = 'postgresql://me:new@ep-new.example.com/shop?sslmode=require&channel_binding=require';

describe('prepareEnvWrite', () => {
  beforeEach(() => {
    questions.length = 0;
    answers.length = 0;
  });

  it('asks before it writes to a virtual file system, where Git cannot be asked', async () => {
    const uri = { scheme: 'vscode-vfs', fsPath: '/shop/.env' } as Uri;
    assert.equal(
      await prepareEnvWrite({ uri, file: '.env', name: 'DATABASE_URL' }, 'main (shop)', () => true),
      undefined,
    );
    assert.deepEqual(questions, [
      "Couldn't check whether Git ignores .env. Write the connection string of main (shop) to it? " +
        'If you commit this file, everyone with access to the repository can read the password.',
    ]);
  });

  describe('in a folder', () => {
    let file: string;
    const write = async (text: string): Promise<string | undefined> => {
      writeFileSync(file, text);
      const uri = { scheme: 'file', fsPath: file, path: file, toString: () => file } as unknown as Uri;
      const changes = await (
        await prepareEnvWrite({ uri, file: '.env', name: 'DATABASE_URL' }, 'main (shop)', () => true)
      )?.(URL);
      return changes && readFileSync(file, 'utf8');
    };

    beforeEach(() => {
      const folder = realpathSync(temporaryFolder());
      file = path.join(folder, '.env');
      Object.assign(workspace, { workspaceFolders: [{ uri: { fsPath: folder } }], textDocuments: [] });
    });
    after(() => Object.assign(workspace, { workspaceFolders: undefined, textDocuments: undefined }));

    it('changes a value in place without a question, if its quotes can hold the new one', async () => {
      const old = 'postgres://me:old@ep-old.example.com/shop';
      assert.equal(
        await write(`export DATABASE_URL="${old}?a=1&b=2\\n" # why\r\n`),
        `export DATABASE_URL="${URL.replace('postgresql', 'postgres')}&a=1&b=2\\n" # why\r\n`,
      );
      assert.equal(await write('DATABASE_URL="mysql://old"\n'), `DATABASE_URL="${URL}"\n`);
      assert.deepEqual(questions, []);
    });

    it('makes Git ignore the file, also if a later rule takes an earlier one back', async () => {
      const { folder } = createRepository(path.dirname(file));
      writeFileSync(path.join(folder, '.gitignore'), '.env\n!.env\n');
      answers.push('Add to .gitignore and Write');
      await write('A=1\n');
      assert.equal(readFileSync(path.join(folder, '.gitignore'), 'utf8'), '.env\n!.env\n.env\n');
    });

    it('asks before a value gets other quotes', async () => {
      const text = 'DATABASE_URL=mysql://old\n';
      assert.equal(await write(text), undefined);
      assert.match(questions.join(), /^Replace the whole value of DATABASE_URL in \.env\?/);
      assert.equal(readFileSync(file, 'utf8'), text);
      answers.push('Replace Value');
      assert.equal(await write(text), `DATABASE_URL='${URL}'\n`);
    });
  });
});
