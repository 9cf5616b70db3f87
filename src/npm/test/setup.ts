/**
 * `hosted-postgres/test/setup`: a setup file for runners. A test that forgets `branch()` fails with this name, whichever
 * variable it reads, also if the program then reads `.env`, which doesn't replace a variable that is set.
 */
import { useDatabase } from '../databaseVariables.ts';

useDatabase('postgresql://none@call-branch-first.invalid/none');
