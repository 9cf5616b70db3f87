import path from 'node:path';
import { builtService } from './builtService.ts';

/** Returns the file of `hosted-postgres/test`, which is built once with the service and exists until the tests end. */
export const builtTestLibrary = async (): Promise<string> =>
  path.join(path.dirname(await builtService()), 'test.cjs');
