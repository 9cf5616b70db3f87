import assert from 'node:assert/strict';
import { accountId } from '../../../../src/extension/account/accounts.ts';
import { setVariables } from '../../../../src/extension/envFile/dotEnv.ts';
import { KnownHosts } from '../../../../src/extension/gitBranch/knownHosts.ts';
import { findRelatedVariables } from '../../../../src/extension/gitBranch/relatedVariables.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService } from '../../../helpers/scriptedService.ts';

const main = 'ep-main.example.test';
const pooled = 'ep-main-pooler.example.test';

describe('findRelatedVariables', () => {
  let model: ConnectedModel;
  let knownHosts: KnownHosts;
  let hasPassword: (role: string | null) => boolean;
  let port: string;
  let devHost: string;

  /** The text after the variable and those that are related to it were set. */
  const follow = async (text: string, name = 'DATABASE_URL') => {
    const target = { account: accountId(model.account), projectId: 'shop', branchId: 'br-dev' };
    const { changes, left } = await findRelatedVariables({ ...model, knownHosts }, text, name, target);
    return { text: setVariables(text, changes)?.text, left };
  };

  beforeEach(async () => {
    hasPassword = () => true;
    port = '';
    devHost = 'ep-dev.example.test';
    const service = await scriptService((call, query) => {
      if (call.endsWith('/branches'))
        return { branches: ['main', 'dev'].map((id) => ({ id: `br-${id}`, name: id })) };
      if (call.endsWith('/endpoints'))
        return {
          endpoints: [
            computeRecord('ep-main', { branch_id: 'br-main' }),
            computeRecord('ep-other', { branch_id: 'br-other' }),
            computeRecord('ep-dev', { branch_id: 'br-dev', host: `${devHost}${port}` }),
          ],
        };
      if (!call.endsWith('/connection_uri')) return { projects: [] };
      const role = query?.get('role_name') ?? null;
      const host = query?.get('pooled') === 'true' ? 'ep-dev-pooler.example.test' : `${devHost}${port}`;
      return hasPassword(role) ? { uri: `postgresql://${role}:new%24${role}@${host}/app` } : 404;
    });
    model = await connectModel(service);
    knownHosts = new KnownHosts(new MemoryMap());
    await model.inventory.loadComputes('shop');
    await knownHosts.refresh(model.inventory, accountId(model.account), [main]);
  });

  it('changes URLs and groups of variables of the same branch, direct or pooled as each was', async () => {
    const before = [
      `DATABASE_URL=postgres://me:old@${main}/app`,
      `export DATABASE_URL_UNPOOLED="postgres://me:old@${main}/app?schema=a\\n" # direct`,
      `POSTGRES_URL='postgres://owner:old@${pooled}/app?a=1&b=2'`,
      `DIRECT_URL=postgres://me:old@ep-other.example.test/app`,
      `SHADOW_DATABASE_URL=postgres://me:old@${main}/shadow`,
      `PGHOST=${pooled}`,
      'PGUSER=owner',
      'PGPASSWORD="old"',
      `PGHOST_UNPOOLED='${main}'`,
      'POSTGRES_HOST=localhost',
      'POSTGRES_PASSWORD=postgres',
      '',
    ];
    const after = before.with(1, before[1]?.replace(/old@ep-main/, 'new%24me@ep-dev') ?? '');
    after[2] = `POSTGRES_URL='postgres://owner:new%24owner@ep-dev-pooler.example.test/app?a=1&b=2'`;
    after[5] = 'PGHOST=ep-dev-pooler.example.test';
    after[7] = "PGPASSWORD='new$owner'";
    after[8] = `PGHOST_UNPOOLED='ep-dev.example.test'`;
    assert.deepEqual(await follow(before.join('\n')), { text: after.join('\n'), left: [] });
  });

  it('changes groups of other names, whose host says that they are of the same branch', async () => {
    const group = (host: string, password: string) =>
      `PG_HOST=${host}\nPG_USER=owner\nPG_PASS=${password}\nDB_HOSTNAME=${host}\nDB_USERNAME=me\nDB_NAME=app\n`;
    const others = `DATABASE_URL=postgres://me:old@${main}/app\nSMTP_HOST=mail.example.test\nSMTP_PASS=old\n`;
    assert.deepEqual(await follow(others + group(main, 'old')), {
      text: others + group('ep-dev.example.test', "'new$owner'"),
      left: [],
    });
  });

  it('changes the variables of libpq for TLS as a group, and back', async () => {
    const text = (host: string, tls: readonly string[], password = 'old') =>
      [
        `DATABASE_URL=postgres://me:old@${main}/app`,
        `PGHOST=${host}`,
        'PGPORT=5432',
        `PGPASSWORD='${password}'`,
        ...['PGSSLMODE', 'PGSSLROOTCERT', 'PGSSLNEGOTIATION', 'PGCHANNELBINDING'].map(
          (name, at) => `${name}=${tls[at]}`,
        ),
        '',
      ].join('\n');
    const strict = ['verify-full', 'system', 'direct', 'require'];
    devHost = '127.0.0.1';
    await model.inventory.refreshComputes('shop');
    const local = text('127.0.0.1', ['disable', '', 'postgres', 'prefer'], 'new$me');
    assert.deepEqual(await follow(text(main, strict)), { text: local, left: [] });
    await knownHosts.refresh(model.inventory, accountId(model.account), ['127.0.0.1']);
    const atLocal = local.replace(main, '127.0.0.1');
    devHost = 'ep-dev.example.test';
    await model.inventory.refreshComputes('shop');
    assert.equal(
      (await follow(atLocal)).text,
      text('ep-dev.example.test', strict, 'new$me').replace(main, '127.0.0.1'),
    );
  });

  it('changes only variables with its suffixes, if the variable has another name', async () => {
    const line = (name: string, host = main, password = 'old') =>
      `${name}=postgres://me:${password}@${host}/app\n`;
    assert.equal(
      (await follow(line('SHOP') + line('SHOP_UNPOOLED') + line('DATABASE_URL'), 'SHOP')).text,
      line('SHOP') + line('SHOP_UNPOOLED', 'ep-dev.example.test', 'new%24me') + line('DATABASE_URL'),
    );
  });

  it('changes no other variable if the value points to no known branch', async () => {
    const text = `DATABASE_URL=postgres://me:x@localhost/app\nDIRECT_URL=postgres://me:x@${main}/app\n`;
    assert.deepEqual(await follow(text), { text, left: [] });
    assert.deepEqual(await follow('A=1\n'), { text: 'A=1\n', left: [] });
  });

  it('names the variables that cannot follow', async () => {
    hasPassword = (role) => role !== 'migrator';
    port = ':6543';
    await model.inventory.refreshComputes('shop');
    const text = `DATABASE_URL=postgres://me:x@${main}/app\nDIRECT_URL=postgres://migrator:x@${main}/app\nPGHOST=${main}\n`;
    assert.deepEqual(await follow(text), { text, left: ['DIRECT_URL', 'PGHOST'] });
    assert.equal(
      (await follow(text.replace('PGHOST', 'PGPORT=5432\nPGHOST'))).text,
      text.replace(`PGHOST=${main}`, 'PGPORT=6543\nPGHOST=ep-dev.example.test'),
    );
  });
});
