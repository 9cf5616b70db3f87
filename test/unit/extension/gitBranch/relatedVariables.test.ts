import assert from 'node:assert/strict';
import { accountId } from '../../../../src/extension/account/accounts.ts';
import { LIBPQ_VARIABLES } from '../../../../src/extension/connection/libpqVariables.ts';
import { setVariables } from '../../../../src/extension/envFile/dotEnv.ts';
import { KnownHosts } from '../../../../src/extension/gitBranch/knownHosts.ts';
import { findRelatedVariables } from '../../../../src/extension/gitBranch/relatedVariables.ts';
import { connectModel, MemoryMap, type ConnectedModel } from '../../../helpers/connectedModel.ts';
import { computeRecord, scriptService } from '../../../helpers/scriptedService.ts';

const main = 'ep-main.example.test';
const pooled = 'ep-main-pooler.example.test';
/** The values of libpq's variables that have no effect, and can't be empty. */
const NO_EFFECT = new Map([
  ['PGSSLMODE', 'disable'],
  ['PGREQUIRESSL', '0'],
  ['PGCHANNELBINDING', 'prefer'],
  ['PGSSLNEGOTIATION', 'postgres'],
  ['PGSSLCOMPRESSION', '0'],
  ['PGSSLCERTMODE', 'allow'],
  ['PGSSLSNI', '1'],
]);

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

  /** Returns the text with the local service, and with the hosted one after that. */
  const thereAndBack = async (lines: readonly string[]) => {
    const text = [`DATABASE_URL=postgres://me:old@${main}/app`, ...lines, ''].join('\n');
    const texts: string[] = [];
    for (const [from, to] of [
      [main, '127.0.0.1'],
      ['127.0.0.1', 'ep-dev.example.test'],
    ] as const) {
      devHost = to;
      await knownHosts.refresh(model.inventory, accountId(model.account), [from]);
      await model.inventory.refreshComputes('shop');
      const before = texts.at(-1)?.replace(main, from) ?? text;
      texts.push((await follow(before)).text ?? '');
    }
    return texts.map((each) => each.split('\n').slice(1, -1));
  };
  const LIBPQ = LIBPQ_VARIABLES.filter((name) => /^PG(?:(?:REQUIRE)?SSL|CHANNELBINDING)/.test(name));

  for (const [what, lines, local] of [
    [
      'of libpq, with PGHOST',
      [
        `PGHOST=${main}`,
        'PGPORT=5432',
        'PGSSLMODE=verify-full',
        'PGSSLROOTCERT=system',
        'PGCHANNELBINDING=require',
      ],
      ['PGHOST=127.0.0.1', 'PGPORT=5432', 'PGSSLMODE=disable', 'PGSSLROOTCERT=', 'PGCHANNELBINDING=prefer'],
    ],
    [
      'of libpq, for a URL',
      ['PGSSLMODE=verify-full', 'PGSSLROOTCERT=/a/b.crt'],
      ['PGSSLMODE=disable', 'PGSSLROOTCERT='],
    ],
    ['of libpq, only one', ['PGSSLROOTCERT=/a/b.crt'], ['PGSSLROOTCERT=']],
    [
      'without an effect, which come back as they were',
      ['PGSSLMODE=require', 'PGCHANNELBINDING=prefer', 'PGSSLSNI=1', 'PGSSLCRL='],
      ['PGSSLMODE=disable', 'PGCHANNELBINDING=prefer', 'PGSSLSNI=1', 'PGSSLCRL='],
    ],
    [
      'of Laravel',
      [`DB_HOST=${main}`, 'DB_SSLMODE=verify-full', 'DB_SSLROOTCERT=/a/b.crt', 'DB_CHANNEL_BINDING=require'],
      ['DB_HOST=127.0.0.1', 'DB_SSLMODE=disable', 'DB_SSLROOTCERT=', 'DB_CHANNEL_BINDING=prefer'],
    ],
    ['of Laravel, for a URL', ['DB_SSLMODE=verify-full'], ['DB_SSLMODE=disable']],
    [
      'of an app, with other underscores',
      [`SHOP_HOST=${main}`, 'SHOP_SSL_MODE=verify-ca', 'SHOP_SSL_MIN_PROTOCOL_VERSION=TLSv1.3'],
      ['SHOP_HOST=127.0.0.1', 'SHOP_SSL_MODE=disable', 'SHOP_SSL_MIN_PROTOCOL_VERSION='],
    ],
    [
      'of another service, which stay',
      [
        'DB_HOST=db.lan',
        'DB_SSLMODE=verify-full',
        'REDIS_SSLCERT=/a',
        'MAIL_HOST=b',
        'MAIL_SSLKEY=/c',
        'PGSSLFACTORY=x',
      ],
      [
        'DB_HOST=db.lan',
        'DB_SSLMODE=verify-full',
        'REDIS_SSLCERT=/a',
        'MAIL_HOST=b',
        'MAIL_SSLKEY=/c',
        'PGSSLFACTORY=x',
      ],
    ],
    [
      'of libpq, all',
      LIBPQ.map((name) => `${name}=a%20b/${name}`),
      LIBPQ.map((name) => `${name}=${NO_EFFECT.get(name) ?? ''}`),
    ],
  ] as const)
    it(`changes variables for TLS as a group, and back: ${what}`, async () => {
      const hosted = lines.map((line) => line.replace(main, 'ep-dev.example.test'));
      assert.deepEqual(await thereAndBack(lines), [local, hosted]);
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
