// Measures one row, in a process of its own, and leaves its results in a file:
//   node test/bench/row.ts NAME FILE
import { writeFile } from 'node:fs/promises';
import { rows } from './rows.ts';

const [name, file] = process.argv.slice(2);
const row = rows.find((each) => each.name === name);
if (row === undefined || file === undefined) throw new Error('row.ts needs the name of a row and a file');
const { measure } = await row.load();
await writeFile(file, JSON.stringify(await measure()));
process.exit(0);
