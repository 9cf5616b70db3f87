// Loaded into a service by `--import`: its time is that of the machine and the milliseconds that a file has.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_OFFSET_FILE ?? '';
const now = Date.now.bind(Date);

Date.now = () => now() + Number(readFileSync(file, 'utf8'));
