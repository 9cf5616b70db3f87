import { answers, executed, settings } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { openInPgsql, addToSqlTools } =
  await import('../../../../../src/extension/connection/commands/openIn.ts');

const connection = {
  name: 'shop main app',
  computeId: 'ep-a',
  host: 'ep-a.example.test',
  login: { role: 'owner', database: 'app', pooled: false },
};

describe('openInPgsql', () => {
  it('returns false if the user declines to open the link', async () => {
    assert.equal(await openInPgsql(connection), false);
    answers.push('Open');
    assert.equal(await openInPgsql(connection), true);
  });
});

describe('addToSqlTools', () => {
  const SETTING = 'sqltools.connections';
  const known = { name: 'shop main app', server: 'ep-a.example.test', port: 5432, database: 'app' };
  afterEach(() => settings.delete(SETTING));

  /** The names of the connections that SQLTools receives. */
  const namesWith = async (connections: unknown) => {
    settings.set(SETTING, connections);
    executed.length = 0;
    await addToSqlTools(connection);
    return executed.map(([, added]) => (added as { readonly name: string }).name);
  };

  it('adds nothing if SQLTools has the connection', async () => {
    assert.deepEqual(await namesWith([null, { ...known, username: 'owner' }]), []);
  });

  it('adds it under another name if its name is taken by another compute or role', async () => {
    const other = ['shop main app ep-a owner'];
    assert.deepEqual(await namesWith([{ ...known, username: 'reader' }]), other);
    assert.deepEqual(await namesWith([{ ...known, username: 'owner', server: 'ep-b.example.test' }]), other);
    assert.deepEqual(await namesWith([]), ['shop main app']);
  });
});
