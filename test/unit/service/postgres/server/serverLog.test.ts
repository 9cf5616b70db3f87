import assert from 'node:assert/strict';
import { findReason } from '../../../../../src/service/postgres/server/serverLog.ts';

describe('The reason why a Postgres program ended', () => {
  it('is a full disk, but not if only shared memory is full', () => {
    const isFull = (line: string) => findReason([line])?.startsWith('The disk is full.');
    const end = 'No space left on device';
    assert.equal(isFull(`FATAL:  could not write to file "base/1": ${end}`), true);
    assert.equal(isFull(`initdb: error: could not create directory "pg_wal": ${end}`), true);
    assert.equal(isFull(`FATAL:  could not create shared memory segment: ${end}`), false);
    assert.equal(isFull(`FATAL:  could not resize shared memory segment "/PostgreSQL.1": ${end}`), false);
  });
});
