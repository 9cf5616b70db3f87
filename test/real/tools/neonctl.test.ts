import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createApiClient } from '@neondatabase/api-client';
import { createNeonClient } from '@neon/sdk';
import { NOT_SERVED, type NotServed } from '../../contract/notServed.ts';
import { branchCalls, type Api } from '../../helpers/branchCalls.ts';
import { FaultProxy } from '../../helpers/faultProxy.ts';
import { startLocalService, temporaryFolder, type LocalService } from '../../helpers/localService.ts';
import { neonCli, NeonCliError } from '../../helpers/neonCli.ts';
import { query } from '../service/postgres/clients.ts';
import { PROJECT } from '../service/controlPlane/sampleProject.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

/** What people type each day and no test above runs, in this order, with the exit code. */
const DAILY: readonly (readonly [command: string, exitCode: number, output?: RegExp])[] = [
  [`link --project-id ${PROJECT} --branch main --yes`, 0],
  ['checkout main', 0],
  ['env pull', 0],
  ['status', 0, /main/],
  ['status --current-branch', 0, /main/],
  ['config status', 0, /main/],
  [`projects update ${PROJECT} --name shop`, 0],
  ['projects list --recoverable-only', 0, /\[\]/],
  ['projects recover gone-1', 1, /no deleted project/],
  ['branches create --name schema --schema-only', 0, /"schema"/],
  ['branches create --name bare --no-compute', 0],
  ['branches add-compute bare --type read_write', 0],
  ['branches restore bare main', 0],
  ['branches set-expiration bare --expires-at 2099-01-01T00:00:00Z', 1, /next 30 days/],
  ['branches delete bare', 0],
  ['branches delete schema', 0],
  ['ip-allow list', 0],
  ['api /projects', 0, /"shop"/],
  ['neon-auth status', 0],
  ['snapshots list', 0, /\[\]/],
  ['credentials list', 1, /not available in the local service/],
  ['buckets list', 1, /not available in the local service/],
  ['functions list', 1, /not available in the local service/],
];

const IN_PROJECT = ['--project-id', PROJECT] as const;
const ON_MAIN = [...IN_PROJECT, '--branch', 'main'] as const;
const OWNER = { role_name: 'app_owner', database_name: 'app' } as const;

describe("The public service's tools, unmodified", () => {
  let service: LocalService;
  let api: Api;
  const run = neonCli(() => service);
  const json = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse(await run(...args, '--output', 'json')) as T;
  const names = async (...args: readonly string[]) =>
    (await json<readonly Named[]>(...args)).map(({ name }) => name).toSorted();
  /** Resolves when no operation of the project runs. */
  const settle = async (project = PROJECT) => {
    const { operations } = await api.send('GET', `/${project}/operations`);
    await api.finish(project, operations);
  };
  const branchNamed = async (name: string) =>
    (await api.branches(PROJECT)).find((branch) => branch.name === name);
  const computeOn = async (branchId: string) => {
    const { items } = await service.client.listComputes(PROJECT);
    return items.find(({ branch_id, type }) => branch_id === branchId && type === 'read_write');
  };

  before(async () => {
    service = await startLocalService({});
    api = branchCalls(service);
  });
  after(() => {
    const unexpected = service.stderr().replaceAll(/^.*Scaled from .*\n/gm, '');
    assert.equal(unexpected, '', 'no unexpected errors');
  });

  it('show the account and its organizations', async () => {
    const { login, projects_limit } = await json<Record<string, unknown>>('me');
    assert.deepEqual([login, typeof projects_limit], ['local', 'number']);
    assert.equal((await json<readonly Named[]>('orgs', 'list')).length, 1);
  });

  it('list projects, with those that are shared, and show one', async () => {
    type Lists = Readonly<Record<'projects' | 'shared_with_you', readonly Named[]>>;
    const lists = await json<Lists>('projects', 'list');
    assert.deepEqual(
      lists.projects.map(({ name }) => name),
      ['shop', 'analytics', 'playground'],
    );
    assert.deepEqual(lists.shared_with_you, []);
    assert.equal((await json<Named>('projects', 'get', PROJECT)).name, 'shop');
  });

  it('list operations', async () => {
    await settle();
    const { operations } = await service.client.restartCompute(PROJECT, 'ep-little-smoke-851426');
    const listed = await json<readonly { readonly id: string }[]>('operations', 'list', ...IN_PROJECT);
    const ids = new Set(listed.map(({ id }) => id));
    for (const { id } of operations) assert(ids.has(id));
    await settle();
  });

  it('create, list and revoke API keys', async () => {
    const made = await json<{ id: number; key: string }>('api-keys', 'create', '--name', 'ci');
    assert.match(made.key, /^[0-9a-f]{64}$/);
    assert((await json<readonly { id: number }[]>('api-keys', 'list')).some(({ id }) => id === made.id));
    await run('api-keys', 'revoke', String(made.id));
    const { items } = await service.client.listApiKeys();
    assert(items.every(({ id }) => id !== made.id));
  });

  it('show the error of the service', async () => {
    await assert.rejects(run('projects', 'get', 'not-there'), (error: Error) => {
      assert(error instanceof NeonCliError);
      assert.match(error.message, /There is no project with the id "not-there"/);
      return true;
    });
  });

  it('create, rename, reset, set as default and delete branches', async () => {
    const created = await json<{ branch: Named; connection_uris: readonly { connection_uri: string }[] }>(
      'branches',
      'create',
      '--name',
      'feature',
      '--annotation',
      '{"pull-request":"7"}',
      ...IN_PROJECT,
    );
    const [{ connection_uri: uri } = { connection_uri: '' }] = created.connection_uris;
    await query(uri, 'create table added ()');
    assert((await names('branches', 'list', ...IN_PROJECT)).includes('feature'));
    await run('branches', 'rename', 'feature', 'renamed', ...IN_PROJECT);
    await run('branches', 'reset', 'renamed', '--parent', ...IN_PROJECT);
    await settle();
    assert.deepEqual(await query(uri, "select to_regclass('added')"), [null]);
    assert.equal((await json<Named>('branches', 'get', 'renamed', ...IN_PROJECT)).id, created.branch.id);
    await run('branches', 'set-default', 'renamed', ...IN_PROJECT);
    assert.equal((await branchNamed('renamed'))?.default, true);
    const { id = '' } = (await branchNamed('main')) ?? {};
    await api.send('POST', `/${PROJECT}/branches/${id}/set_as_default`, undefined, 200);
    await run('branches', 'delete', 'renamed', ...IN_PROJECT);
    assert.equal(await branchNamed('renamed'), undefined);
  });

  it('compare the schemas of branches', async () => {
    const created = await json<{ connection_uris: readonly { connection_uri: string }[] }>(
      'branches',
      'create',
      '--name',
      'compared',
      ...IN_PROJECT,
    );
    await query(created.connection_uris[0]?.connection_uri ?? '', 'create table only_here (id int)');
    await settle();
    const on = ['--database', 'app', ...IN_PROJECT];
    const added = /^--- .*\n\+\+\+ [^]*^\+CREATE TABLE public\.only_here \($/m;
    assert.match(await run('branches', 'schema-diff', 'main', 'compared', ...on), added);
    assert.match(await run('branches', 'schema-diff', 'compared', '^parent', ...on), added);
    assert.match(await run('diff', 'main', '--branch', 'compared', ...on), added);
    assert.doesNotMatch(await run('branches', 'schema-diff', 'main', 'main', ...on), /CREATE TABLE/);
    await run('branches', 'delete', 'compared', ...IN_PROJECT);
  });

  it('connect to any compute, directly or pooled, with any role', async () => {
    const { id: branch_id = '' } = (await branchNamed('main')) ?? {};
    const { host } = (await computeOn(branch_id)) ?? {};
    const direct = new URL((await run('connection-string', 'main', ...IN_PROJECT)).trim());
    assert.equal(direct.host, host);
    assert.equal(direct.searchParams.get('channel_binding'), 'require');
    // The program adds a suffix to the first label of the host, and an address has none.
    assert.equal((await run('connection-string', 'main', '--pooled', ...IN_PROJECT)).trim(), direct.href);
    const output = await run('psql', 'main', ...IN_PROJECT, '--', '-c', 'select current_user as one');
    assert.match(output, /one\s+-+\s+app_owner/);

    await run('roles', 'create', '--name', 'reader', ...ON_MAIN);
    assert.deepEqual(await names('roles', 'list', ...ON_MAIN), ['app_owner', 'reader']);
    await run('databases', 'create', '--name', 'sales', '--owner-name', 'reader', ...ON_MAIN);
    assert.deepEqual(await names('databases', 'list', ...ON_MAIN), ['app', 'sales']);
    const as = ['--role-name', 'reader', '--database-name', 'sales', '--ssl', 'omit'];
    const reader = (await run('connection-string', 'main', ...as, ...IN_PROJECT)).trim();
    assert.deepEqual(await query(reader, 'select current_user, current_database()'), ['reader', 'sales']);
    await run('databases', 'delete', 'sales', ...ON_MAIN);
    await run('roles', 'delete', 'reader', ...ON_MAIN);
  });

  it('connect with the URIs that both SDKs return', async () => {
    const { id: branchId = '' } = (await branchNamed('checkout-rewrite')) ?? {};
    const { baseUrl, key } = service;
    const former = createApiClient({ apiKey: key, baseURL: baseUrl });
    const current = createNeonClient({ apiKey: key, baseUrl, throwOnError: true });
    for (const pooled of [false, true]) {
      const { data } = await former.getConnectionUri({
        projectId: PROJECT,
        branch_id: branchId,
        ...OWNER,
        pooled,
      });
      const uri = await current.postgres.connectionString({ projectId: PROJECT, branchId, pooled });
      assert.equal(uri, data.uri);
      assert.deepEqual(await query(uri, 'select current_user'), ['app_owner']);
    }
  });

  it('do the daily commands, with these exit codes, and create no credential', async () => {
    const folder = temporaryFolder();
    const proxy = await FaultProxy.start({ upstream: service.baseUrl });
    const daily = neonCli(() => ({ ...service, baseUrl: proxy.baseUrl }), folder);
    for (const [command, exitCode, output] of DAILY) {
      const [code, text] = await daily(...command.split(' '), '--output', 'json').then(
        (printed) => [0, printed] as const,
        (error: NeonCliError) => [error.exitCode, error.message] as const,
      );
      assert.equal(code, exitCode, `${command}: ${text}`);
      if (output !== undefined) assert.match(text, output, command);
    }
    const env = readFileSync(path.join(folder, '.env.local'), 'utf8');
    const [, url = ''] = /^DATABASE_URL_UNPOOLED="?([^"\n]+)/m.exec(env) ?? [];
    assert.deepEqual(await query(url, 'select current_user'), ['app_owner']);
    assert.match(readFileSync(path.join(folder, '.neon'), 'utf8'), /shiny-wind-028834/);

    const isUnknown = (list: readonly NotServed[], sent: string): boolean =>
      list.some(({ call }) => call.test(sent.replace(/(data-api)\/[^/]+$/, '$1/{database_name}')));
    const unknown = new Set(proxy.requests.map(({ method, path: sent }) => `${method} ${sent}`));
    const missing = [...unknown].filter((sent) => isUnknown(NOT_SERVED, sent));
    const surprising = missing.filter(
      (sent) =>
        !isUnknown(
          NOT_SERVED.filter(({ isDaily }) => isDaily),
          sent,
        ),
    );
    assert.deepEqual(surprising, []);
    assert.deepEqual(
      [...unknown].filter((sent) => /^(?!GET).*credentials/.test(sent)),
      [],
    );
  });

  it('inspect a database', async () => {
    const { data } = await createApiClient({
      apiKey: service.key,
      baseURL: service.baseUrl,
    }).getConnectionUri({
      projectId: PROJECT,
      ...OWNER,
    });
    await query(data.uri, 'create extension pg_stat_statements');
    for (let each = 0; each < 3; each += 1) await query(data.uri, 'select 7 as outlier');
    const inspect = async (name: string) =>
      json<readonly Record<string, unknown>[]>(
        'inspect',
        'db',
        name,
        '--db-url',
        `${data.uri}?sslmode=disable`,
      );
    for (const name of ['outliers', 'calls']) {
      const rows = await inspect(name);
      assert(
        rows.some((row) => JSON.stringify(row).includes('as outlier')),
        name,
      );
    }
    for (const name of ['table-sizes', 'bloat', 'locks', 'vacuum-stats']) await inspect(name);
    const onMain = await json<readonly unknown[]>(
      'inspect',
      'db',
      'calls',
      ...ON_MAIN,
      '--role-name',
      'app_owner',
    );
    assert(JSON.stringify(onMain).includes('as outlier'));
  });

  it('create and delete a project', async () => {
    const owner = ['--database', 'my db', '--role', 'me'];
    const { project } = await json<{ project: Named }>('projects', 'create', '--name', 'new', ...owner);
    await settle(project.id);
    await run('projects', 'delete', project.id);
    await api.send('GET', `/${project.id}`, undefined, 404);
  });
});
