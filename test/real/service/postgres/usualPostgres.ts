import assert from 'node:assert/strict';
import {
  chooseBinaries,
  findPrograms,
  type PostgresBinaries,
} from '../../../../src/service/postgres/server/programs.ts';
import { makeProgramsReachable } from '../../../../src/service/privileges/reachablePrograms.ts';
import { findNobody, type UnixAccount } from '../../../../src/service/privileges/unixAccount.ts';

/** What a service of root becomes. */
export const serviceAccount = (): UnixAccount | undefined =>
  process.getuid?.() === 0 ? findNobody() : undefined;

/** The Postgres that a service runs unless an option names another one: a copy if the account couldn't reach it in this clone. */
export function usualPostgres(): PostgresBinaries {
  const [account, programs] = [serviceAccount(), findPrograms(undefined)];
  const found = chooseBinaries(account === undefined ? programs : makeProgramsReachable(programs, account));
  return typeof found === 'string' ? assert.fail(found) : found;
}
