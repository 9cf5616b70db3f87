/** Random scripts: our splitter sends what psql sends. In psql 17.12 and 18.6, COPY is read by psql's own rules. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { findProgram } from '../../../../src/base/programs/findProgram.ts';
import { ScriptError } from '../../../../src/base/sql/sqlScript.ts';
import { roundsOf } from '../../../helpers/fullRun.ts';
import { recordPsql } from '../../../helpers/psqlRecorder.ts';
import { randomNumbers } from '../../../helpers/randomNumbers.ts';
import { randomScript } from '../../../helpers/randomScript.ts';
import { RANDOM_SEED } from '../../../helpers/seed.ts';
import { comparable, splitScript } from '../../../helpers/splitScript.ts';

const program = process.env['TEST_PSQL'] ?? findProgram('psql');
const version = program === undefined ? '0' : execFileSync(program, ['--version'], { encoding: 'utf8' });
const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(version) ?? [];
const isNew = Number(major) > 18 || (Number(major) >= 17 && Number(minor) >= (major === '17' ? 12 : 6));
const ROUNDS = roundsOf(5, 200);
const SCRIPTS = 1000;

describe(`Random scripts${isNew ? '' : ' (skipped: needs psql 17.12, 18.6 or newer)'}`, () => {
  before(function () {
    // Where it was put for this test, it must not be skipped.
    if (!isNew && process.env['TEST_PSQL'] === undefined) this.skip();
  });

  for (let round = 0; round < ROUNDS; round += 1) {
    const seed = RANDOM_SEED + round;
    it(`are split as psql splits them: seed ${seed}`, async () => {
      const random = randomNumbers(seed);
      const scripts = Array.from({ length: SCRIPTS }, () => randomScript(random));
      const recorded = await recordPsql(program ?? '', scripts);
      assert.equal(recorded.length, SCRIPTS);
      const compared = scripts.filter((script, index) => {
        const [sent, ours] = [recorded[index], sentBySplitter(script)];
        if (sent === undefined || ours === undefined) return false;
        assert.deepEqual(comparable(ours), comparable(sent), JSON.stringify(script));
        return true;
      });
      assert.ok(compared.length > SCRIPTS / 2, `${compared.length} of ${SCRIPTS} compared`);
    });
  }
});

/** @returns undefined if it is refused */
function sentBySplitter(script: string): ReturnType<typeof splitScript> | undefined {
  try {
    return splitScript(script);
  } catch (error) {
    if (error instanceof ScriptError) return undefined;
    throw error;
  }
}
