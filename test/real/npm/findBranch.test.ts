/** Which branch a rehearsal takes, and the test library for `from`. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { TEST_PROJECT } from '../../../src/localService/ownFolder.ts';
import { ServiceApi } from '../../../src/npm/api.ts';
import { findBranch } from '../../../src/npm/findBranch.ts';
import { StartError } from '../../../src/service/core/serviceErrors.ts';
import { startLocalService, temporaryFolder } from '../../helpers/localService.ts';

const option = '--from';

describe('findBranch', () => {
  /** Starts a service with these projects, each with a branch `main` and one called after it. */
  const withProjects = async (...names: readonly string[]) => {
    const file = path.join(temporaryFolder(), 'projects.json');
    const projects = names.map((name) => ({
      id: name,
      name,
      branches: [
        { id: `br-${name}`, name: 'main', default: true, computes: [] },
        { id: `br-${name}-own`, name, computes: [] },
      ],
    }));
    writeFileSync(file, JSON.stringify({ projects }));
    const { baseUrl, key } = await startLocalService({ postgres: false, args: ['--projects', file] });
    const api = new ServiceApi(baseUrl, key);
    return async (named?: string, projectId?: string) =>
      findBranch(api, { named, projectId, option }).then(
        ({ id }) => id,
        (error: unknown) => (error instanceof StartError ? error.message : assert.fail(String(error))),
      );
  };

  it('lists the branches if there are several', async () => {
    const find = await withProjects(TEST_PROJECT, 'shop', 'stock');
    const list = '\n  br-shop (main of shop)\n  br-stock (main of stock)';
    assert.equal(await find(), `There are several projects. Name a branch by its id, with --from:${list}`);
    assert.equal(
      await find('main'),
      `Several branches are called main. Name a branch by its id, with --from:${list}`,
    );
    assert.equal(await find('br-stock'), 'br-stock');
    assert.equal(await find(undefined, 'stock'), 'br-stock');
    assert.equal(await find('nothing'), 'There is no branch nothing');
  });

  it('takes a branch of the test library only by a name that no other has', async () => {
    const find = await withProjects(TEST_PROJECT, 'shop');
    assert.deepEqual([await find(), await find('main')], ['br-shop', 'br-shop']);
    assert.equal(await find(TEST_PROJECT), `br-${TEST_PROJECT}-own`);
  });

  it('does not take the empty branch of the test library without a name', async () => {
    const find = await withProjects(TEST_PROJECT);
    assert.equal(
      await find(),
      'There is only the project of hosted-postgres/test, which has no data. Name a branch with --from',
    );
  });
});
