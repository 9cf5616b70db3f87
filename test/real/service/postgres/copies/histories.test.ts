/** `SEED` begins with another history, and `HISTORIES` runs another number of them. */
import { roundsOf } from '../../../../helpers/fullRun.ts';
import { RANDOM_SEED } from '../../../../helpers/seed.ts';
import { describeHistories } from './describeHistories.ts';

describeHistories(RANDOM_SEED, Number(process.env['HISTORIES'] ?? roundsOf(10, 200)));
