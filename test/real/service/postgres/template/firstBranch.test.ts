import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { storageOf } from '../../../../helpers/branchCalls.ts';
import { temporaryFolder } from '../../../../helpers/localService.ts';
import { query } from '../clients.ts';
import { startControlPlane } from '../controlPlane.ts';
import { usualPostgres } from '../usualPostgres.ts';

describe('The data of the first branch', () => {
  for (const [title, isTemporary] of [
    ['are made without the template if all data are deleted at the end', true],
    ['are a copy of the template if data stay', false],
  ] as const)
    it(title, async () => {
      const dataDir = temporaryFolder();
      const plane = await startControlPlane({ dataDir, createsTemplate: true, isTemporary });
      const template = path.join(storageOf({ dataDir }), `template-${usualPostgres().major}`);
      const answer = async (branchId: string) =>
        query(await plane.uri(await plane.create({ branchId })), 'select 1 as one');
      assert.deepEqual(await answer('br-first'), [1]);
      assert.equal(existsSync(template), !isTemporary);
      const others = await Promise.all(['br-second', 'br-third'].map(answer));
      assert.deepEqual(others, [[1], [1]]);
      assert.equal(existsSync(template), true);
    });

  it('say what the system says if there can be no template, which the API passes on', async () => {
    const dataDir = temporaryFolder();
    const { engine } = await startControlPlane({ dataDir, createsTemplate: true });
    const template = path.join(storageOf({ dataDir }), `template-${usualPostgres().major}`);
    writeFileSync(template, '');
    await assert.rejects(engine.prepareBranch({ id: 'br-first' }), (error: Error) => {
      assert.equal(error.name, 'EngineError', String(error));
      return error.message.includes(template);
    });
  });
});
