import assert from 'node:assert/strict';
import { withFormerTls } from '../../../../src/extension/gitBranch/formerTls.ts';
import { MemoryMap } from '../../../helpers/connectedModel.ts';

const LOCAL = 'postgresql://me:x@127.0.0.1:5000/app';
const HOSTED = 'postgresql://me:x@ep-1.example.test/app';

describe('withFormerTls', () => {
  let memory: MemoryMap;
  beforeEach(() => (memory = new MemoryMap()));

  /** Moves the URL of a variable, which has the account of its host. */
  const move = async (name: string, value: string, url: string) => {
    const account = (each: string) => (each.includes('@127.') ? 'local' : 'X');
    return withFormerTls(memory, { name, value, account: account(value) }, url, account(url));
  };

  it('keeps the parameters of a URL of the same service, also with another role or database', async () => {
    const strict = 'sslmode=verify-full&sslrootcert=system';
    for (const before of ['you:p@ep-1.example.test/app', 'me:p@ep-2.example.test/other'])
      assert.equal(
        await move('DATABASE_URL', `postgresql://${before}?${strict}`, `${HOSTED}?sslmode=require`),
        `${HOSTED}?${strict}`,
      );
  });

  it('remembers the parameters of each variable', async () => {
    await move('DATABASE_URL', `${HOSTED}?sslmode=verify-full`, LOCAL);
    await move('DIRECT_URL', HOSTED, LOCAL);
    await move('PGHOST', `${HOSTED}?sslmode=verify-ca`, LOCAL);
    const required = `${HOSTED}?sslmode=require`;
    const names = ['DATABASE_URL', 'DIRECT_URL', 'PGHOST'];
    assert.deepEqual(await Promise.all(names.map(async (name) => move(name, LOCAL, required))), [
      `${HOSTED}?sslmode=verify-full`,
      required,
      `${HOSTED}?sslmode=verify-ca`,
    ]);
  });

  it('adds none to a variable whose name says that it has none, unless the user has', async () => {
    const required = `${HOSTED}?sslmode=require`;
    for (const before of [LOCAL, ''])
      assert.equal(await move('POSTGRES_URL_NO_SSL', before, required), HOSTED);
    await move('POSTGRES_URL_NO_SSL', `${HOSTED}?sslmode=no-verify`, LOCAL);
    assert.equal(await move('POSTGRES_URL_NO_SSL', LOCAL, required), `${HOSTED}?sslmode=no-verify`);
  });

  it('forgets the parameters of a variable that has lost them', async () => {
    await move('DATABASE_URL', `${HOSTED}?sslmode=verify-full`, LOCAL);
    await move('DATABASE_URL', HOSTED, LOCAL);
    assert.equal(await move('DATABASE_URL', LOCAL, `${HOSTED}?sslmode=require`), `${HOSTED}?sslmode=require`);
  });
});
