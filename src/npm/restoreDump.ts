/** Restores a dump, so that a migration can be rehearsed on its data. */
import { execFile } from 'node:child_process';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { fieldsOf } from '../base/fieldsOf.ts';
import { runSqlFiles } from '../migrations/runSqlFiles.ts';

/** The name of the file with the contents in a folder that pg_dump has written. A tar archive begins with this name, too. */
const CONTENTS = 'toc.dat';
/** The text with which other archives of pg_dump begin. */
const MAGIC = 'PGDMP';

/** Whether a path is that of a file, whose content isn't checked, or of a folder that pg_dump has written. */
export async function isDump(name: string): Promise<boolean> {
  const isFile = async (file: string) =>
    stat(file).then(
      (found) => found.isFile(),
      () => false,
    );
  return (await isFile(name)) || (await isFile(path.join(name, CONTENTS)));
}

/** @param url the URL of an empty database @throws {Error} with the reason of Postgres, or if pg_restore is missing */
export async function restoreDump(name: string, url: string): Promise<void> {
  if (await isArchive(name)) return restoreArchive(name, url);
  await runSqlFiles(name, url);
}

async function isArchive(name: string): Promise<boolean> {
  if ((await stat(name)).isDirectory()) return true;
  const file = await open(name);
  try {
    const { buffer } = await file.read(Buffer.alloc(CONTENTS.length), 0);
    return [MAGIC, CONTENTS].some((head) => buffer.toString('latin1').startsWith(head));
  } finally {
    await file.close();
  }
}

/** Restores an archive without its owners and rights, because the roles of the other server don't exist here. */
async function restoreArchive(name: string, url: string): Promise<void> {
  const address = new URL(url);
  const env = { ...process.env, PGPASSWORD: decodeURIComponent(address.password) };
  address.password = '';
  const args = ['--no-owner', '--no-privileges', '--exit-on-error', '--dbname', address.href, name];
  try {
    await promisify(execFile)('pg_restore', args, { env });
  } catch (error) {
    const { code, stderr } = fieldsOf(error);
    const reason =
      code === 'ENOENT'
        ? 'is an archive. Install pg_restore, or dump with --format=plain'
        : String(stderr).trim();
    throw new Error(`${name}: ${reason}`, { cause: error });
  }
}
