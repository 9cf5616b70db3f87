import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createPgClient } from '../../../../src/base/sql/pgClient.ts';
import { projectRoot } from '../../../workbench/folders.ts';

/** What `pg` reads: as `val('user')`, which stands for PGUSER, or by name. */
function variablesOfPg(): string[] {
  const text = readFileSync(path.join(projectRoot, 'node_modules/pg/lib/connection-parameters.js'), 'utf8');
  const keys = [...text.matchAll(/\bval\('(\w+)'/g)].map(([, key = '']) => `PG${key.toUpperCase()}`);
  return [...keys, ...(text.match(/\bPG[A-Z]+\b/g) ?? [])];
}

describe('createPgClient', () => {
  const parametersOf = (client: object): unknown => ({ ...Object(client).connectionParameters });
  const create = () => parametersOf(createPgClient({ connectionString: 'postgresql://me:secret@h:1/db' }));

  it('takes nothing from the environment, and leaves it as it is', () => {
    const before = { ...process.env };
    const expected = create();
    const names = variablesOfPg();
    assert.ok(names.includes('PGOPTIONS') && names.includes('PGSSLMODE') && names.length > 12, String(names));
    try {
      for (const name of names) process.env[name] = 'require';
      const hostile = { ...process.env };
      assert.deepEqual(create(), expected);
      assert.deepEqual({ ...process.env }, hostile);
    } finally {
      for (const name of names) delete process.env[name];
      Object.assign(process.env, before);
    }
  });
});
