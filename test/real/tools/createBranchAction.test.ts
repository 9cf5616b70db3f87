/** `.github/actions/create-branch`: its steps run as on a runner, against a local service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { load } from 'js-yaml';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { readText } from '../../helpers/projectFiles.ts';
import { projectRoot } from '../../workbench/folders.ts';
import { query } from '../service/postgres/clients.ts';
import { PROJECT } from '../service/controlPlane/sampleProject.ts';
import { listen } from '../../helpers/listen.ts';

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: {
    readonly using: string;
    readonly steps: readonly {
      readonly id: string;
      readonly shell: string;
      readonly run: string;
      readonly env: Readonly<Record<string, string>>;
    }[];
  };
}

type Texts = Readonly<Record<string, string>>;

const FOLDER = '.github/actions/create-branch';
const action = load(readText(`${FOLDER}/action.yml`)) as Action;

/** Reads the file as a runner does: `name=value`, or `name<<end`, the lines of the value, and `end`. */
function outputsIn(content: string): ReadonlyMap<string, string> {
  const written = new Map<string, string>();
  const lines = content.split('\n').values();
  for (const line of lines) {
    const [, name = '', separator, rest = ''] = /^(.*?)(=|<<)(.*)$/.exec(line) ?? [];
    const value: string[] = [];
    if (separator === '<<')
      for (const each of lines)
        if (each === rest) break;
        else value.push(each);
    if (separator !== undefined) written.set(name, separator === '=' ? rest : value.join('\n'));
  }
  return written;
}

/** What a runner does with the action. */
async function run(given: Texts): Promise<{ code: number | null; log: string; outputs: Texts }> {
  const defaults = Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? '']);
  const inputs = { ...Object.fromEntries(defaults), ...given };
  const [step] = action.runs.steps;
  assert(step !== undefined && action.runs.steps.length === 1 && step.shell === 'bash');
  const file = path.join(temporaryFolder(), 'outputs');
  writeFileSync(file, '');
  const env = Object.entries(step.env).map(([name, value]) => {
    assert.equal(value, '${{ toJSON(inputs) }}');
    return [name, JSON.stringify(inputs)];
  });
  const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', step.run], {
    env: {
      ...process.env,
      ...Object.fromEntries(env),
      GITHUB_ACTION_PATH: path.join(projectRoot, FOLDER),
      GITHUB_OUTPUT: file,
      GITHUB_REPOSITORY: 'example/shop',
      GITHUB_HEAD_REF: 'feature/login',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [log, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const written = outputsIn(readFileSync(file, 'utf8'));
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => {
    assert.equal(value, `\${{ steps.${step.id}.outputs.${name} }}`);
    return [name, written.get(name) ?? ''];
  });
  return { code, log, outputs: Object.fromEntries(outputs) };
}

describe('The action that creates a branch', () => {
  let service: LocalService;
  let api: Api;
  let common: Texts;

  before(async () => {
    service = await startLocalService();
    api = branchCalls(service);
    const { baseUrl, key } = service;
    common = { api_key: key, api_host: baseUrl, project_id: PROJECT, database: 'app', role: 'app_owner' };
  });

  it('creates a branch with a compute, and returns how to connect; a second time, finds it', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { code, log, outputs } = await run({ ...common, branch_name: 'pr-7', expires_at });
    assert.equal(code, 0, log);
    const { branch_id = '', db_url = '', db_url_pooled = '', password = '' } = outputs;
    const branch = (await api.branches(PROJECT)).find(({ name }) => name === 'pr-7');
    assert.deepEqual([branch?.id, outputs['created']], [branch_id, 'true']);
    assert.equal(Date.parse(branch?.expires_at ?? ''), Date.parse(expires_at));
    const { annotation } = await api.send<{ annotation: { value: Texts } }>(
      'GET',
      `/${PROJECT}/branches/${branch_id}`,
    );
    assert.equal(annotation.value['github-commit-ref'], 'feature/login');
    assert.equal(annotation.value['github-commit-repo'], 'example/shop');

    const [direct, pooled] = [new URL(db_url), new URL(db_url_pooled)];
    assert.deepEqual([direct.host, pooled.host], [outputs['db_host'], outputs['db_host_pooled']]);
    assert.notEqual(direct.host, pooled.host);
    assert.equal(decodeURIComponent(direct.password), password);
    for (const uri of [db_url, db_url_pooled])
      assert.deepEqual(await query(uri, 'select current_user, current_database()'), ['app_owner', 'app']);
    // The runner replaces the password in logs, because the action says that it is one.
    assert(log.includes(`::add-mask::${password}\n`));
    assert(!log.replaceAll(/^::add-mask::.*\n/gm, '').includes(password));

    const again = await run({ ...common, branch_name: 'pr-7', ssl: 'verify-full', prisma: 'true' });
    assert.deepEqual([again.outputs['created'], again.outputs['branch_id']], ['false', branch_id]);
    const options = (name: string) => Object.fromEntries(new URL(again.outputs[name] ?? '').searchParams);
    assert.deepEqual(options('db_url'), { connect_timeout: '30', sslmode: 'verify-full' });
    assert.deepEqual(options('db_url_pooled'), {
      connect_timeout: '30',
      pool_timeout: '30',
      pgbouncer: 'true',
      sslmode: 'verify-full',
    });
  });

  it('takes the parent by name or id, and lets the service choose the name', async () => {
    const parent = (await api.branches(PROJECT)).find(({ name }) => name === 'checkout-rewrite');
    for (const parent_branch of ['checkout-rewrite', parent?.id ?? '']) {
      const { log, outputs } = await run({ ...common, parent_branch });
      const made = (await api.branches(PROJECT)).find(({ id }) => id === outputs['branch_id']);
      assert.equal(made?.parent_id, parent?.id, log);
    }
  });

  it('takes no id for the name of the branch', async () => {
    const [main] = (await api.branches(PROJECT)).filter((branch) => branch.default);
    const { log, outputs } = await run({ ...common, branch_name: main?.id ?? '' });
    assert.notEqual(outputs['branch_id'], main?.id, log);
  });

  it('writes texts of the service so that they are no outputs and no commands', async () => {
    const name = 'a\ncreated=forged\n::warning::forged %0A::error::forged';
    const uri = `postgresql://owner:${encodeURIComponent('x\ny=z')}@db.example/app`;
    const strange = createServer((_request, response) => {
      response.end(JSON.stringify({ branches: [{ id: 'br-1', name }], uri }));
    });
    const api_host = `http://127.0.0.1:${await listen(strange)}`;
    const { log, outputs } = await run({ ...common, api_host, branch_name: name });
    const commands = log.split('\n').filter((line) => /^\s*::|##\[/.test(line));
    assert.deepEqual(
      commands.map((line) => line.split('::')[1]),
      ['add-mask', 'add-mask', 'notice'],
    );
    assert.equal(outputs['created'], 'false');
    assert.equal(outputs['password'], 'x\ny=z');
  });

  it('says what is wrong, and then creates nothing', async () => {
    const ids = async () => (await api.branches(PROJECT)).map(({ id }) => id);
    const before = await ids();
    const rows: readonly (readonly [given: Texts, message: RegExp])[] = [
      [{ api_key: '' }, /api_key is missing/],
      [{ api_host: 'console.neon.tech' }, /api_host must be a URL/],
      [
        { api_host: 'http://127.0.0.1:1/api/v2', branch_name: 'x' },
        /fetch failed: .*(ECONNREFUSED|bad port)/,
      ],
      [{ api_key: 'wrong' }, /: 401 /],
      [{ ssl: 'prefer' }, /ssl must be require, verify-ca, verify-full, omit, not prefer/],
      [{ branch_type: 'empty' }, /branch_type must be default, schema-only/],
      [{ suspend_timeout: 'soon' }, /suspend_timeout must be a number/],
      [{ suspend_timeout: '5' }, /suspend_timeout_seconds/],
      [{ masking_rules: '{}' }, /masking_rules must be a JSON array/],
      [{ parent_branch: 'not-there' }, /no branch not-there/],
      [{ branch_name: 'main', role: 'nobody' }, /: 404 .*nobody/],
    ];
    for (const [given, message] of rows) {
      const { code, log, outputs } = await run({ ...common, ...given });
      assert.equal(code, 1, log);
      assert.match(log, /^::error::[^\n]*\n$/);
      assert.match(log, message);
      assert.equal(outputs['db_url'], '');
    }
    assert.deepEqual(await ids(), before);
  });

  it('leaves out what a branch does not have', async () => {
    const both = { get_auth_url: 'true', get_data_api_url: 'true' };
    const { code, log, outputs } = await run({ ...common, ...both, branch_name: 'main' });
    assert.deepEqual([code, outputs['auth_url'], outputs['data_api_url']], [0, '', ''], log);
  });
});
