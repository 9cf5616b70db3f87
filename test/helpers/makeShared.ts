// Makes what the suites of all processes share before any of them starts. See sharedFolder.ts.
import { temporaryFolder } from './localService.ts';
import { prepareStorage } from './preparedStorage.ts';

await prepareStorage(temporaryFolder());
