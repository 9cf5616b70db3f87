/** What the suites of this folder went through, for the end of a test run: a line each, and as JSON where asked for. */
import { appendFileSync } from 'node:fs';

/** Prints one count; TEST_TALLY_FILE names a file that gets it as a line of JSON, `{"name","count"}`. */
export function tell(name: string, count: number): void {
  console.log(`      ${name}: ${count}`);
  const file = process.env.TEST_TALLY_FILE;
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify({ name, count })}\n`);
}
