/** The branches with migrations that those of `hosted-postgres/test` are copies of. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { branchCalls, type Api } from '../helpers/branchCalls.ts';
import { FaultProxy, type JsonReply } from '../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../helpers/localService.ts';
import { createProject, OPTIONS, PROJECT, run } from '../helpers/testProject.ts';

describe('Parents of test branches', () => {
  let service: LocalService;
  let api: Api;
  let id: string;
  before(async () => {
    service = await startLocalService({});
    api = branchCalls(service);
    const { project } = await api.change('POST', '', { project: { name: PROJECT } });
    id = project.id;
  });
  after(() => service.stop());
  /** Runs a test file whose branch is a copy of the parent. */
  const use = async (cwd: string, baseUrl: string = service.baseUrl): Promise<unknown> =>
    run(
      cwd,
      `Object.assign(process.env, { NEON_API_HOST: '${baseUrl}', NEON_API_KEY: '${service.key}' });
      const db = await branch(${OPTIONS}); await db.drop(); show(1);`,
    );
  const parents = async () =>
    (await api.branches(id)).map(({ name }) => name).filter((name) => name.startsWith('parent '));

  it('are kept if they were among the last twenty that were used', async () => {
    const { cwd, count } = await createProject();
    await use(cwd);
    const [first = ''] = await parents();
    for (let n = 1; n <= 20; n += 1)
      await api.change('POST', `/${id}/branches`, { branch: { name: `parent ${n}` } });
    await use(cwd);
    writeFileSync(path.join(cwd, 'migrations', '2.sql'), '-- changed');
    await use(cwd);
    const left = await parents();
    assert.ok(left.includes(first) && left.includes('parent 2') && !left.includes('parent 1'));
    assert.equal(left.length, 21);
    writeFileSync(path.join(cwd, 'migrations', '2.sql'), '-- changed');
    await use(cwd);
    assert.equal(count(), 2);
  });

  it('are found again if one was deleted after it was found', async () => {
    const { cwd, count } = await createProject();
    writeFileSync(path.join(cwd, 'migrations', '2.sql'), '-- of this test');
    await use(cwd);
    let isFirst = true;
    const rewrite = ({ status, json }: JsonReply, call: string): JsonReply => {
      if (!isFirst || call !== `GET /projects/${id}/branches`) return { status, json };
      isFirst = false;
      return {
        status,
        json: JSON.parse(JSON.stringify(json).replaceAll(/"br-[^"]+"/g, '"br-deleted-1234"')),
      };
    };
    const proxy = await FaultProxy.start({ upstream: service.baseUrl, rewrite });
    await use(cwd, proxy.baseUrl);
    await proxy.stop();
    assert.equal(isFirst, false);
    assert.equal(count(), 1);
  });
});
