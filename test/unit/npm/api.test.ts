import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mock } from 'node:test';
import { promisify } from 'node:util';
import { Api } from '../../../src/npm/api.ts';
import { scriptService } from '../../helpers/scriptedService.ts';

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
      new Api(service.baseUrl, 'key').projects(),
      /^Error: GET \/projects: 423 status 423$/,
    );
    assert.deepEqual(times, []);
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
