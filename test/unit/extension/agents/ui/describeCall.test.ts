import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { describeCall } = await import('../../../../../src/extension/agents/tools/runTool.ts');

const inventory = { compute: () => undefined };
const textOf = (input: object, output?: object) => describeCall(inventory, input, output).text;

describe('The description of a call', () => {
  it('has no string of its SQL, however it is quoted', () => {
    const statements = [
      ['SELECT 1', 'SELECT 1'],
      ['SELECT\n  name\nFROM users', 'SELECT   name FROM users'],
      ["ALTER ROLE me PASSWORD 'pa''ss' VALID UNTIL 'x'", 'ALTER ROLE me PASSWORD …'],
      ["SELECT E'\\'secret', 'secret'", 'SELECT E…'],
      ['DO $x$ secret $x$', 'DO …'],
      ['SELECT $$secret$$', 'SELECT …'],
    ];
    for (const [sql = '', text] of statements) assert.equal(textOf({ sql, branchId: 'br-a' }), text);
  });

  it('names what was created, or else what the call was about', () => {
    const created = { branchId: 'br-new', name: 'agent/task', connectionString: 'secret' };
    assert.deepEqual(describeCall(inventory, { projectId: 'shop' }, created), {
      text: 'agent/task',
      branchId: 'br-new',
    });
    assert.equal(textOf({ branchId: 'br-a' }, { pending: true }), 'br-a');
    assert.equal(textOf({}), '');
  });

  it('is one short line', () => {
    assert.equal(textOf({ sql: `SELECT ${'x'.repeat(1000)}` }).length, 120);
    assert.deepEqual(describeCall(inventory, { sql: 1, branchId: {} }, 'x'), {
      text: '',
      branchId: undefined,
    });
  });
});
