// `npm run service`: the service from its source. Node keeps what it made of the source for the next start, which
// then takes half the time.
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./main.ts');
