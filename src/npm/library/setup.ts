/**
 * `hosted-postgres/test/setup`: a setup file for test runners. It sets all variables with a database to a host that doesn't exist. A
 * test that forgets `branch()` fails with the name of that host. Programs that read `.env` don't replace variables that are set.
 */
import { setDatabaseVariables } from '../../api/addresses/databaseVariables.ts';

setDatabaseVariables('postgresql://none@call-branch-first.invalid/none');
