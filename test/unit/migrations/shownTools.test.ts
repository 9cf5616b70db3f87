import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findProjectTools } from '../../../src/migrations/shownTools.ts';
import { temporaryFolder } from '../../helpers/localService.ts';

const commandsFor = async (...packages: readonly string[]): Promise<string[]> => {
  const folder = temporaryFolder();
  const devDependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ devDependencies }));
  return (await findProjectTools(folder)).map(({ command }) => command);
};

describe('findProjectTools', () => {
  it('has the program of a tool only if a package of the project has it', async () => {
    assert.deepEqual(await commandsFor('postgrator'), ['node migrate.js']);
    assert.deepEqual(await commandsFor('postgrator', 'postgrator-cli'), ['npx postgrator']);
    assert.deepEqual(await commandsFor('@mikro-orm/migrations'), ['node migrate.js']);
    assert.deepEqual(await commandsFor('@mikro-orm/cli', '@mikro-orm/migrations'), [
      'npx mikro-orm migration:up',
    ]);
  });

  it('has each tool of a project', async () => {
    assert.deepEqual(await commandsFor('knex', 'pg', 'dbmate'), ['npx dbmate up', 'npx knex migrate:latest']);
  });
});
