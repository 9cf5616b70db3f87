// Writes what psql sends for each script of test/unit/base/sql/psqlScripts: node test/helpers/recordScripts.ts PSQL
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { recordPsql } from './psqlRecorder.ts';

const folder = path.join(import.meta.dirname, '../unit/base/sql/psqlScripts');
const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
const scripts = files.map((file) => readFileSync(path.join(folder, file), 'latin1'));
const recorded = await recordPsql(process.argv[2] ?? 'psql', scripts);
for (const [index, file] of files.entries()) {
  const sent = recorded[index];
  if (sent === undefined) throw new Error(`psql rejects a command in ${file}`);
  writeFileSync(path.join(folder, file.replace('.sql', '.json')), `${JSON.stringify(sent, null, 2)}\n`);
}
