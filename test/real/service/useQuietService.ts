import assert from 'node:assert/strict';
import { startLocalService, type LocalService } from '../../helpers/localService.ts';

/**
 * Starts a service without Postgres before the tests of the surrounding `describe`. Asserts after them that it
 * logged no unexpected error. Returns a getter for use in tests.
 */
export function useQuietService(): () => LocalService {
  let service: LocalService;
  before(async () => {
    service = await startLocalService({ postgres: false });
  });
  after(() => assert.equal(service.stderr(), '', 'no unexpected errors'));
  return () => service;
}
