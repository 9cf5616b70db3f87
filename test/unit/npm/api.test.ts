import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mock } from 'node:test';
import { promisify } from 'node:util';
import { ownIdentity } from '../../../src/base/processIdentity.ts';
import { ServiceApi } from '../../../src/npm/api.ts';
import { CodedError, scriptService } from '../../helpers/scriptedService.ts';

describe('The calls of the test library', () => {
  afterEach(() => mock.restoreAll());

  it('are repeated for two minutes while a branch is locked', async () => {
    const now = mock.method(performance, 'now', () => 0).mock;
    // The time passes while a request waits for its reply.
    const times = [0, 60_000, 100_000, 119_990];
    const service = await scriptService(() => {
      const time = times.shift() ?? assert.fail('another request');
      now.mockImplementation(() => time);
      return 423;
    });
    await assert.rejects(
      new ServiceApi(service.baseUrl, 'key').listProjects(),
      /^Error: GET \/projects: 423 status 423$/,
    );
    assert.deepEqual(times, []);
  });

  it('are sent once if the service fails in another way', async () => {
    const service = await scriptService(() => 503);
    const api = new ServiceApi(service.baseUrl, 'key');
    await assert.rejects(api.listProjects(), /^Error: GET \/projects: 503 status 503$/);
    assert.equal(service.requests.length, 1);
  });

  it('read all pages of projects', async () => {
    const ids = Array.from({ length: 401 }, (_, number) => ({ id: `p-${number}` }));
    const service = await scriptService((_, query) => {
      const start = Number(query?.get('cursor') ?? 0);
      return { projects: ids.slice(start, start + 400), pagination: { cursor: String(start + 400) } };
    });
    assert.equal((await new ServiceApi(service.baseUrl, 'key').listProjects()).length, 401);
  });

  it('agree on the oldest project if several processes have created one at once', async () => {
    const projectOf = (id: string, second: number) => ({
      id,
      name: 'hosted-postgres-tests',
      created_at: `2026-11-30T12:00:0${second}.000Z`,
    });
    const own = projectOf('p-own', 1);
    const projects: object[] = [];
    const service = await scriptService((call) => {
      if (call === 'GET /projects') return { projects };
      // Another process has created one since this process has listed them.
      if (call === 'POST /projects') projects.push(projectOf('p-another', 1), own, projectOf('p-zero', 0));
      return { project: own };
    });
    const api = new ServiceApi(service.baseUrl, 'key');
    assert.equal(await api.findOrCreateOwnProject(), 'p-zero');
    assert.deepEqual(service.requests.splice(0).slice(2), ['GET /projects', 'DELETE /projects/p-own']);
    assert.equal(await api.findOrCreateOwnProject(), 'p-zero');
    projects.pop();
    assert.equal(await api.findOrCreateOwnProject(), 'p-another');
    assert.deepEqual(service.requests, ['GET /projects', 'GET /projects']);
  });

  it('recognize by its code that the name of a branch is taken', async () => {
    const creation = { name: 'one', parent: undefined, maker: ownIdentity() };
    const create = async (code: string) => {
      const service = await scriptService(() => new CodedError(409, code));
      return new ServiceApi(service.baseUrl, 'key').createBranch('shop', creation);
    };
    assert.equal(await create('NAME_TAKEN'), undefined);
    await assert.rejects(create('CONFLICT'), /409 CONFLICT 409$/);
    await assert.rejects(create('a role already exists'), /already exists/);
  });

  it('name what a reply lacks', async () => {
    const service = await scriptService(() => ({ databases: [{ id: 1, name: 'app', owner_name: 'me' }] }));
    const api = new ServiceApi(service.baseUrl, 'key');
    const branch = { id: 'br-one', name: 'one', project_id: 'shop' };
    await assert.rejects(api.findUrl(branch), /has no uri$/);
    await assert.rejects(api.readSchema(branch, 'app'), /has no sql$/);
  });

  it("don't load undici, which takes longer than all of them", async () => {
    const service = await scriptService(() => ({ projects: [] }));
    const module = new URL('../../../src/npm/api.ts', import.meta.url).href;
    const code = `import { ServiceApi } from '${module}';
      const projects = await new ServiceApi('${service.baseUrl}', 'key').listProjects();
      const loaded = process.moduleLoadList.filter((name) => name.includes('undici'));
      console.log(JSON.stringify([projects, loaded]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
    assert.deepEqual(JSON.parse(stdout), [[], []]);
  });
});
