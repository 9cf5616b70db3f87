import assert from 'node:assert/strict';
import { startLocalService, type LocalService } from '../helpers/localService.ts';

/**
 * Starts a service without Postgres before the tests of the surrounding `describe` and stops it after them. Nothing they
 * send may be an accident to it, which it would say on its standard error. Returns a function that gives it inside tests.
 */
export function useQuietService(): () => LocalService {
  let service: LocalService;
  before(async () => {
    service = await startLocalService({ postgres: false });
  });
  after(async () => {
    assert.equal(service.stderr(), '', 'none of this is an accident');
    await service.stop();
  });
  return () => service;
}
