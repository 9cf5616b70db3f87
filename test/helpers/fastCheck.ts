/** fast-check with the seed of all random suites. */
import fc from 'fast-check';
import { RANDOM_SEED } from './seed.ts';

fc.configureGlobal({ seed: RANDOM_SEED });

export default fc;
