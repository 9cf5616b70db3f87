/** The branches with migrations that those of `hosted-postgres/test` are copies of. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { ownIdentity } from '../../../../src/base/processIdentity.ts';
import { encodeMaker } from '../../../../src/npm/library/maker.ts';
import { branchCalls, type Api, type Branch } from '../../../helpers/branchCalls.ts';
import { FaultProxy, type JsonReply } from '../../../helpers/faultProxy.ts';
import { startLocalService, type LocalService } from '../../../helpers/localService.ts';
import { createProject, OPTIONS, program, PROJECT, run } from '../../../helpers/testProject.ts';

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
    const unused = (await api.branches(id)).find(({ name }) => name === 'parent 1');
    await api.createBranch(id, { name: 'shared 1', parent_id: unused?.id });
    await use(cwd);
    writeFileSync(path.join(cwd, 'migrations', '2.sql'), '-- changed');
    await use(cwd);
    const left = await parents();
    assert.ok(left.includes(first) && left.includes('parent 2') && !left.includes('parent 1'));
    assert.equal(left.length, 21);
    assert.ok((await api.branches(id)).every(({ name }) => name !== 'shared 1'));
    writeFileSync(path.join(cwd, 'migrations', '2.sql'), '-- changed');
    await use(cwd);
    assert.equal(count(), 2);
  });

  it('are kept if others have used them while the migrations of another one ran, or still use them', async () => {
    const { cwd } = await createProject();
    for (let count = (await parents()).length; count < 23; count += 1)
      await api.change('POST', `/${id}/branches`, { branch: { name: `parent kept ${count}` } });
    const query = '?sort_by=updated_at&sort_order=asc';
    const { branches } = await api.send<{ branches: Branch[] }>('GET', `/${id}/branches${query}`);
    const [idle, later, used] = branches.filter(({ name }) => name.startsWith('parent '));
    const sharedName = `shared ${used?.name.slice('parent '.length)}`;
    const shared = await api.createBranch(id, { name: sharedName, parent_id: used?.id });
    const { owner_name } = shared.databases[0] ?? assert.fail('no database');
    const database = { name: `test_${encodeMaker(ownIdentity())}_01234567`, owner_name };
    await api.change('POST', `/${id}/branches/${shared.branch.id}/databases`, { database });
    // What a process does that uses a parent.
    const moveToFront = `require('node:http').request(
      '${service.baseUrl}/projects/${id}/branches/${later?.id}',
      { method: 'PATCH', agent: false, headers: { authorization: 'Bearer ${service.key}', 'content-type': 'application/json' } },
      (response) => response.resume().once('end', resolve),
    ).end('{ "branch": { "name": "${later?.name}" } }')`;
    await run(
      cwd,
      `Object.assign(process.env, { NEON_API_HOST: '${service.baseUrl}', NEON_API_KEY: '${service.key}' });
      const migrate = async (url) => {
        forgetServer();
        await query(url, 'create table item ()');
        await new Promise((resolve) => ${moveToFront});
      };
      const db = await branch({ migrate: { run: migrate, files: ['migrations'] } }); await db.drop(); show(1);`,
    );
    const left = await parents();
    assert.deepEqual(
      [idle, later, used].map((each) => left.includes(each?.name ?? '')),
      [false, true, true],
    );
    assert.ok((await api.branches(id)).some(({ name }) => name === sharedName));
  });

  it('can be copies of a branch, whose first tables a reset also takes back', async () => {
    const { cwd } = await createProject();
    const shown = await run(
      cwd,
      `Object.assign(process.env, { NEON_API_HOST: '${service.baseUrl}', NEON_API_KEY: '${service.key}' });
      const db = await branch({ from: 'checkout-rewrite' });
      await query(db.url, 'alter table customers alter column city drop not null');
      const { createdAgain } = await db.reset();
      const nullable = "select is_nullable from information_schema.columns where table_name = 'customers' and column_name = 'city'";
      show([createdAgain, ...(await query(db.url, nullable))]);
      await db.drop();`,
    );
    const changed = 'its objects, settings or rights have changed (pg_attribute, pg_constraint)';
    assert.deepEqual(shown, [changed, 'NO']);
  });

  it('are found next to a branch whose annotation is of another program', async () => {
    const { cwd } = await createProject();
    const branch = { branch: { name: 'of another program' }, annotation_value: { maker: 'me' } };
    await api.change('POST', `/${id}/branches`, branch);
    await use(cwd);
    assert.ok((await api.branches(id)).some(({ name }) => name === 'of another program'));
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
    assert.equal(isFirst, false);
    assert.equal(count(), 1);
  });

  const IN_THREAD = `const { parentPort, workerData } = require('node:worker_threads');
    const forever = () => new Promise((resolve) => setInterval(resolve, 2 ** 31 - 1));
    const run = async (url) => {
      parentPort.postMessage('began');
      if (workerData === 'hangs') await forever();
      forgetServer();
      await query(url, 'create table item ()');
      fs.appendFileSync('count', 'x');
    };
    const db = await branch({ migrate: { run, files: ['migrations'] } });
    parentPort.postMessage(db.id);
    await forever();`;
  /** Runs code with threads of a test file, which have a branch until they are terminated. @returns what the code returns */
  const useThreads = async <T>(cwd: string, code: string): Promise<T> =>
    run(
      cwd,
      `Object.assign(process.env, { NEON_API_HOST: '${service.baseUrl}', NEON_API_KEY: '${service.key}' });
      const { Worker } = require('node:worker_threads');
      const threads = [];
      const start = (workerData) => {
        const thread = new Worker(${JSON.stringify(await program(IN_THREAD))}, { eval: true, workerData });
        threads.push(thread);
        return thread;
      };
      const message = (thread, pattern) =>
        new Promise((resolve, reject) => {
          thread.on('message', (text) => pattern.test(text) && resolve(text));
          thread.once('exit', () => reject(new Error('The thread has ended.')));
        });
      const work = async () => { ${code} };
      show(await work().finally(() => Promise.all(threads.map((thread) => thread.terminate()))));`,
    );

  it('are created by another thread if the one that had begun is terminated', async () => {
    const { cwd, count } = await createProject();
    const code = `const first = start('hangs');
      await message(first, /began/);
      await first.terminate();
      return message(start(), /^br-/);`;
    assert.match(await useThreads(cwd, code), /^br-/);
    assert.equal(count(), 1);
  });

  it('are created once for threads, whose branches the next call deletes after they were terminated', async () => {
    const { cwd, count } = await createProject();
    writeFileSync(path.join(cwd, 'migrations', '2.sql'), '-- of this test');
    const code = `const ids = await Promise.all([start(), start()].map((thread) => message(thread, /^br-/)));
      await threads[0].terminate();
      return [...ids, await message(start(), /^br-/)];`;
    const ids = await useThreads<string[]>(cwd, code);
    const left = (await api.branches(id)).map((each) => each.id);
    assert.deepEqual(
      ids.map((each) => left.includes(each)),
      [false, true, true],
    );
    assert.equal(count(), 1);
  });
});
