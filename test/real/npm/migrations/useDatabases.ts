import { withDatabase } from '../../../../src/api/addresses/databaseUrl.ts';
import { branchCalls } from '../../../helpers/branchCalls.ts';
import { startLocalService } from '../../../helpers/localService.ts';
import { PROJECT } from '../../service/controlPlane/sampleProject.ts';
import { query } from '../../service/postgres/clients.ts';

/** Starts a service before the tests of the surrounding `describe`. @returns creates a database, and returns its URL */
export function useDatabases(): (name: string) => Promise<string> {
  let uri: string;
  before(async () => {
    const api = branchCalls(await startLocalService());
    uri = api.uri(await api.createBranch(PROJECT));
  });
  return async (name) => {
    await query(uri, `create database ${name}`);
    return withDatabase(uri, name);
  };
}
