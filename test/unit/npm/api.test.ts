import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mock } from 'node:test';
import { promisify } from 'node:util';
import { Api } from '../../../src/npm/api.ts';
import { scriptService } from '../../helpers/scriptedService.ts';
import { until } from '../../workbench/until.ts';

describe('The calls of the test library', () => {
  afterEach(() => mock.restoreAll());

  it('are repeated for two minutes while a branch is locked', async () => {
    const service = await scriptService(() => 423);
    const now = mock.method(performance, 'now', () => 0).mock;
    const failed = assert.rejects(
      new Api(service.baseUrl, 'key').projects(),
      /^Error: GET \/projects: 423 status 423$/,
    );
    const requests = (count: number) => until('requests', async () => service.requests.length >= count);
    await requests(2);
    now.mockImplementation(() => 120_000);
    await requests(service.requests.length + 3);
    now.mockImplementation(() => 120_001);
    await failed;
  });

  it('are sent once if the service fails in another way', async () => {
    const service = await scriptService(() => 503);
    const api = new Api(service.baseUrl, 'key');
    await assert.rejects(api.projects(), /^Error: GET \/projects: 503 status 503$/);
    assert.equal(service.requests.length, 1);
  });

  it("don't load undici, which takes longer than all of them", async () => {
    const service = await scriptService(() => ({ projects: [] }));
    const module = new URL('../../../src/npm/api.ts', import.meta.url).href;
    const code = `import { Api } from '${module}';
      const projects = await new Api('${service.baseUrl}', 'key').projects();
      const loaded = process.moduleLoadList.filter((name) => name.includes('undici'));
      console.log(JSON.stringify([projects, loaded]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
    assert.deepEqual(JSON.parse(stdout), [[], []]);
  });
});
