/** The first project of the sample account, with its branches and computes. */
import assert from 'node:assert/strict';
import type { ComputeOutcome } from '../../../../src/api/client.ts';
import { isRejected } from '../../../../src/api/transport/errors.ts';
import type { Compute } from '../../../../src/api/records/records.ts';
import type { ComputePatch, ComputeCreation } from '../../../../src/api/records/requests.ts';
import { call } from '../../../helpers/call.ts';
import type { LocalService } from '../../../helpers/localService.ts';
import { until } from '../../../workbench/until.ts';

export const PROJECT = 'shiny-wind-028834';
/** The path of its branches, for calls of branchCalls.ts. */
export const BRANCHES = `/${PROJECT}/branches`;
/** Two branches with a primary, and one without. */
export const MAIN = 'br-aged-salad-637688';
export const CHECKOUT = 'br-sweet-breeze-497520';
export const FREE = 'br-frosty-lake-110382';
export const MAIN_PRIMARY = 'ep-little-smoke-851426';
export const CHECKOUT_PRIMARY = 'ep-purple-water-204912';
export const replica: ComputeCreation = { branch_id: FREE, type: 'read_only' };

/** Returns the operations as `action status`. */
export const actions = ({ operations }: ComputeOutcome): string[] =>
  operations.map(({ action, status }) => `${action} ${status}`);

export const isHttpError = (status: number, message: RegExp) => (error: unknown) => {
  assert(isRejected(error, status), String(error));
  assert.match(String(error), message);
  return true;
};

export function sampleProject(service: () => LocalService) {
  const found = async (id: string) =>
    (await service().client.listComputes(PROJECT)).items.find((compute) => compute.id === id);
  /** Resolves when no change of the compute is pending. */
  const settled = (id: string): Promise<Compute> =>
    until(`${id} settled`, async () => {
      const compute = await found(id);
      return compute?.pending_state === undefined ? compute : undefined;
    });
  return {
    found,
    settled,
    /** Creates a read replica and waits until it is active. */
    create: async (creation: Partial<ComputeCreation> = {}): Promise<Compute> => {
      const { compute } = await service().client.createCompute(PROJECT, { ...replica, ...creation });
      assert(compute);
      return settled(compute.id);
    },
    change: (id: string, patch: ComputePatch) => service().client.updateCompute(PROJECT, id, patch),
    raw: (method: string, path: string, body?: unknown) => {
      const { baseUrl, key } = service();
      return call(baseUrl, { method, path: `/projects/${PROJECT}${path}`, key, body });
    },
  };
}
