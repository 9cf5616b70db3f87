/**
 * Create Branch for This Git Branch, from the last answer until the URL in the env file works. The baseline creates the same
 * branch by the API and waits for its operations.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { replaceFile } from '../../src/base/replaceFile.ts';
import { createGitRunner } from '../../src/base/git/runGit.ts';
import { accountId } from '../../src/extension/account/accounts.ts';
import { BranchActions } from '../../src/extension/branches/branchActions.ts';
import { branchMapWriter } from '../../src/extension/gitBranch/branchMap.ts';
import { findBranchUrl } from '../../src/extension/gitBranch/findBranchUrl.ts';
import { findPrimary } from '../../src/extension/inventory/branchStatus.ts';
import { KnownHosts } from '../../src/extension/gitBranch/knownHosts.ts';
import { branchCalls } from '../../test/helpers/branchCalls.ts';
import { connectModel, MemoryMap, RecoveryRecordMap } from '../../test/helpers/connectedModel.ts';
import { createRepository } from '../../test/helpers/gitRepository.ts';
import { startLocalService } from '../../test/helpers/localService.ts';
import { query } from '../../test/real/service/postgres/clients.ts';
import { comparison, measureInTurns, medianRatio, ms, timeOf, type Result } from './result.ts';

const ROUNDS = 15;
const GOAL = 1.3;
/** The client's default. */
const RETRIES = 5;

export async function measure(): Promise<readonly Result[]> {
  const service = await startLocalService();
  const api = branchCalls(service);
  const project = await api.change('POST', '', { project: {} });
  const projectId = project.project.id;
  const model = await connectModel(service, { key: service.key, client: { retries: RETRIES } });
  const create = createInModel(model, projectId, api.uri(project));
  const endpoints = [{ type: 'read_write' as const }];
  let count = 0;
  const measured = async (work: (name: string) => Promise<{ readonly id: string }>) => {
    let id = '';
    const time = await timeOf(async () => ({ id } = await work(`feature/${(count += 1)}`)));
    await api.change('DELETE', `/${projectId}/branches/${id}`);
    return time;
  };
  try {
    const pairs = await measureInTurns(ROUNDS, 1, {
      ours: () => measured(create),
      baseline: () =>
        measured(async (name) => {
          const body = { branch: { name, parent_id: project.branch.id }, endpoints };
          return (await api.change('POST', `/${projectId}/branches`, body)).branch;
        }),
    });
    return [
      comparison(pairs, {
        what: 'branch for a git branch',
        unit: ms,
        baseline: 'by the API, with its operations',
        goal: `≤ ${GOAL} ×`,
        met: medianRatio(pairs) <= GOAL,
        note: `until a query by the URL in the env file; ${ROUNDS} rounds`,
      }),
    ];
  } finally {
    model.dispose();
    await service.stop();
  }
}

/** @param parentUrl a secret @returns what the command does after the user's answers */
function createInModel(
  { account, session, inventory, sender, options }: Awaited<ReturnType<typeof connectModel>>,
  projectId: string,
  parentUrl: string,
): (name: string) => Promise<{ readonly id: string }> {
  const { folder } = createRepository();
  const file = path.join(folder, '.env');
  writeFileSync(file, `DATABASE_URL=${parentUrl}\n`);
  const map = branchMapWriter(
    createGitRunner(() => 'git'),
    folder,
  );
  const knownHosts = new KnownHosts(new MemoryMap());
  const actions = new BranchActions(session, inventory, sender, new RecoveryRecordMap());
  return async (name) => {
    const creation = { branch: { name }, endpoints: [{ type: 'read_write' as const }] };
    const { branch } = await actions.create(projectId, creation, options);
    assert.ok(branch);
    const ref = { account: accountId(account), projectId, branchId: branch.id };
    await map.addCreated({ ...ref, gitBranch: name });
    const compute = await findPrimary(inventory, ref);
    assert.ok(compute);
    const target = await findBranchUrl({ session, inventory, knownHosts }, ref, {
      name: 'DATABASE_URL',
      value: parentUrl,
    });
    assert.ok(target.value !== undefined);
    await replaceFile(file, `DATABASE_URL=${target.value}\n`);
    await map.setBranch(name, ref);
    await query(readFileSync(file, 'utf8').trim().slice('DATABASE_URL='.length), 'select 1');
    return branch;
  };
}
