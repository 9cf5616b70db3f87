/** The action that rehearses a migration: its steps run in bash as GitHub runs them, with the package that is built here. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { load } from 'js-yaml';
import { ServiceApi } from '../../../src/npm/api.ts';
import { fieldsOf } from '../../../src/base/fieldsOf.ts';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { readText } from '../../helpers/projectFiles.ts';
import { startLocalService, temporaryFolder } from '../../helpers/localService.ts';
import { installProgram, startProgram } from '../../helpers/npxProgram.ts';
import { projectRoot } from '../../workbench/folders.ts';

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: {
    readonly steps: readonly { readonly run: string; readonly env: Record<string, string> }[];
  };
}

const PG = JSON.stringify(path.join(projectRoot, 'node_modules/pg/lib/index.js'));
const sql = (text: string): string =>
  `"${process.execPath}" -e 'const c = new (require(${PG}).Client)(process.env.DATABASE_URL); c.connect().then(() => c.query("${text}")).then(() => c.end())'`;

describe('The action that rehearses a migration', function () {
  let [project, temporary, programs] = ['', '', ''];

  before(async function () {
    if (process.platform === 'win32') this.skip();
    const file = await installProgram();
    [project, temporary, programs] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    chmodSync(temporary, 0o1777);
    const npx = path.join(programs, 'npx');
    writeFileSync(
      npx,
      `#!/bin/bash\n[ "$1 $2" = "--yes hosted-postgres@latest" ] || exit 9\nexec "${process.execPath}" "${file}" "\${@:3}"\n`,
    );
    chmodSync(npx, 0o755);
  });

  const runStep = async (
    index: number,
    given: Readonly<Record<string, string>>,
    ofGitHub: readonly string[] = [],
  ) => {
    const { inputs, runs } = load(readText('.github/actions/rehearse/action.yml')) as Action;
    const { run, env } = runs.steps[index] ?? assert.fail('no such step');
    const variables = Object.entries(env).map(([name, value]) => {
      const input = /^\$\{\{ inputs\.(\w+) \}\}$/.exec(value)?.[1] ?? assert.fail(value);
      return `${name}=${given[input] ?? inputs[input]?.default ?? ''}`;
    });
    const summary = path.join(temporary, 'summary.md');
    writeFileSync(summary, '');
    const github = [
      'GITHUB_ACTIONS=true',
      `GITHUB_STEP_SUMMARY=${summary}`,
      `PATH=${programs}:${process.env['PATH']}`,
    ];
    const command = ['env', ...github, ...ofGitHub, ...variables, 'bash', '-e', '-o', 'pipefail', '-c', run];
    const program = startProgram(command, project, temporary);
    return { code: await program.ended, output: program.output(), summary: readFileSync(summary, 'utf8') };
  };

  it('annotates a danger and writes the summary', async () => {
    const prepared = await runStep(0, { prepare: sql('create table users as select 1 as nick') });
    assert.equal(prepared.code, 0, prepared.output);
    const { code, output, summary } = await runStep(1, { run: sql('drop table users') });
    assert.equal(code, 3, output);
    assert.match(output, /^::warning title=Migration rehearsal::Loses 1 row of public\.users\.$/m);
    assert.match(summary, /^### Rehearsed on a copy of main\n\n {4}Loses 1 row of public\.users\.\n/);
    assert.match(summary, /^ +[\d.]+ (?:ms|sec) {2}drop table users$/m);
  });

  it('annotates a way back that forgets something', async () => {
    const { code, output } = await runStep(1, {
      run: sql('drop table users'),
      down: sql('create table users (nick int)'),
    });
    assert.equal(code, 3, output);
    assert.match(output, /^::warning title=Migration rehearsal::Way back: Loses 1 row of public\.users\.$/m);
  });

  it('annotates what is safe, and a failure', async () => {
    const safe = await runStep(1, { run: sql('create table more (id int)'), from: 'main' });
    assert.equal(safe.code, 0, safe.output);
    assert.match(safe.output, /^::notice title=Migration rehearsal::Safe: 1 statement, /m);
    const failed = await runStep(1, { run: sql('drop table nothing') });
    assert.equal(failed.code, 1, failed.output);
    assert.match(
      failed.output,
      /^::error title=Migration rehearsal::Fails at “drop table nothing”: table "nothing" does not/m,
    );
  });

  it('comments on the pull request, and changes its comment later', async () => {
    const seen: { readonly call: string; readonly token: string | undefined; readonly body: string }[] = [];
    const others = Array.from({ length: 100 }, (_, id) => ({ id, body: 'Nice.' }));
    let own: { readonly id: number; readonly body: string } | undefined;
    const stub = await FaultProxy.start({
      upstream: ({ method, path: name, headers, body }) => {
        seen.push({ call: `${method} ${name}`, token: headers.authorization, body });
        if (method === 'GET')
          return { json: name.endsWith('page=1') ? others : own === undefined ? [] : [own] };
        own = { id: 1204, body: String(fieldsOf(JSON.parse(body))['body']) };
        return { json: own };
      },
    });
    const event = path.join(temporary, 'event.json');
    writeFileSync(event, JSON.stringify({ pull_request: { number: 7 } }));
    const api = stub.baseUrl.replace(/\/$/, '');
    // The proxy of tests refuses connections, so that nothing reaches another machine.
    const ofGitHub = [
      `GITHUB_API_URL=${api}`,
      'GITHUB_REPOSITORY=me/app',
      `GITHUB_EVENT_PATH=${event}`,
      'NO_PROXY=127.0.0.1',
    ];
    const drop = `${sql('drop table users')}; echo "token: [$HOSTED_POSTGRES_COMMENT_TOKEN]"`;
    for (const [call, count] of [
      ['POST /repos/me/app/issues/7/comments', 3],
      ['PATCH /repos/me/app/issues/comments/1204', 6],
    ] as const) {
      const { code, output } = await runStep(1, { run: drop, token: 'secret' }, ofGitHub);
      assert.equal(code, 3, output);
      assert.match(output, /^token: \[\]$/m);
      assert.equal(seen.length, count, JSON.stringify(seen));
      assert.equal(seen.at(-1)?.call, call);
      assert.equal(seen.at(-1)?.token, 'Bearer secret');
      assert.match(
        own?.body ?? '',
        /^<!-- .* -->\n### Rehearsed on a copy of main\n\n {4}Loses 1 row of public\.users\./,
      );
    }
    stub.stop();
    const without = await runStep(1, { run: drop, token: 'secret' }, ofGitHub);
    assert.equal(without.code, 3, without.output);
    assert.match(without.output, /^::warning title=Migration rehearsal::There is no comment: /m);
  });

  it('rehearses on a branch of an account', async () => {
    const service = await startLocalService();
    const proxy = await FaultProxy.start({
      upstream: service.baseUrl,
      rewrite: (reply, call) => (call.endsWith('/rehearsal') ? { status: 404, json: {} } : reply),
    });
    const [project] = await new ServiceApi(service.baseUrl, service.key).listProjects();
    const account = {
      api_key: service.key,
      project: project?.id ?? '',
      api_host: proxy.baseUrl,
      from: 'main',
      // Locks are sampled, and the time between two samples depends on the machine.
      longest_lock: '60000',
    };
    const { code, output } = await runStep(1, { run: sql('create table more (id int)'), ...account });
    assert.equal(code, 0, output);
    assert.match(output, /^Statements and locks were read through a second connection/m);
    assert.equal(proxy.count('POST', /\/reset_password$/), 1);
    assert.equal(proxy.count('DELETE', /\/branches\/[^/]+$/), 1);
  });
});
