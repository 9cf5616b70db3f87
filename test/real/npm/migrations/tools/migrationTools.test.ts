/** The folders of real tools give the database that the tools' own commands have given. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runStep } from '../../../../../src/npm/library/migrations.ts';
import { writeFiles } from '../../../../helpers/writeFiles.ts';
import { CASES } from './cases.ts';
import { contentOf, startDatabases, type Databases } from './databases.ts';
import { PROGRAMS } from './programs.ts';

describe('the folder of a tool that migrates', () => {
  let databases: Databases;
  before(async () => (databases = await startDatabases()));

  for (const [name, { files, folder }] of Object.entries(CASES))
    it(`gives what the command of ${name} gives`, async () => {
      const project = writeFiles(files);
      const database = await databases.create();
      await runStep(project, folder, database.url);
      const expected = readFileSync(path.join(import.meta.dirname, `${name}.txt`), 'utf8');
      assert.equal(await contentOf(database), expected);
    });

  for (const [name, { files, folder, command }] of Object.entries(PROGRAMS))
    it(`is refused with the command of ${name}`, async () => {
      const refused = runStep(writeFiles(files), folder, 'postgresql://a:b@127.0.0.1/c');
      await assert.rejects(refused, ({ message }: Error) => message.includes(`{ run: '${command}', `));
    });
});
