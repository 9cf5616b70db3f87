import assert from 'node:assert/strict';
import type { ServiceApi } from '../../../src/npm/api.ts';
import { databaseForCommand } from '../../../src/npm/database.ts';
import { TEST_PROJECT } from '../../../src/localService/ownFolder.ts';

describe('databaseForCommand', () => {
  const find = async (...projects: { readonly id: string; readonly name: string }[]) => {
    const listBranches = async (id: string) => [{ id: `br-${id}`, name: 'main', default: true }];
    const findUrl = async ({ id }: { readonly id: string }) => `postgresql://${id}`;
    const api = { listProjects: async () => projects, listBranches, findUrl } as unknown as ServiceApi;
    return databaseForCommand(api, { hasPostgres: true });
  };
  const [shop, blog] = [
    { id: 'one', name: 'Shop' },
    { id: 'two', name: 'Blog' },
  ];

  it('says which of several projects it has taken', async () => {
    assert.deepEqual(await find(shop, blog), {
      projectId: 'one',
      branchId: 'br-one',
      url: 'postgresql://br-one',
      note: 'The database is that of main in Shop (one), the oldest of 2 projects',
    });
  });

  it('says nothing of the only project beside that of the test library', async () => {
    const found = await find({ id: 'tests', name: TEST_PROJECT }, blog);
    assert.deepEqual([found?.projectId, found?.note], ['two', undefined]);
  });
});
