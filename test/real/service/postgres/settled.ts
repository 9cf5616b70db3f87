import assert from 'node:assert/strict';
import type { Api, Created } from '../../../helpers/branchCalls.ts';
import { until } from '../../../workbench/until.ts';

/** Waits until nothing is in progress. @returns the branches of each project */
export async function settled(api: Api): Promise<{ project: string; branches: string[] }[]> {
  const { projects } = await api.send<{ projects: { id: string }[] }>('GET', '?limit=400');
  return Promise.all(
    projects.map(async ({ id }) => {
      await until(`${id} is settled`, async () => {
        const { operations } = await api.send<Created>('GET', `/${id}/operations`);
        for (const { status, error } of operations) assert.notEqual(status, 'failed', error);
        return operations.every(({ status }) => !['scheduling', 'running'].includes(status));
      });
      const branches = await api.branches(id);
      for (const branch of branches) assert.equal(branch.current_state, 'ready', branch.id);
      return { project: id, branches: branches.map((branch) => branch.id) };
    }),
  );
}
