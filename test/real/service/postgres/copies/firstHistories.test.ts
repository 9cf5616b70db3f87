/** A few for `npm test`, with other seeds than those of `histories.test.ts`. */
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { describeHistories } from './describeHistories.ts';

describeHistories(RANDOM_SEED + 500, 2);
