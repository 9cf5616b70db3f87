import { devNull } from 'node:os';
import path from 'node:path';

/**
 * Variables for libpq in a server, which `dblink` and `postgres_fdw` use with what an SQL user wants: no host means loopback instead of
 * the default Unix socket, and no file of the home folder has passwords, services or certificates.
 */
const FOREIGN_SERVERS = {
  PGHOST: '127.0.0.1',
  HOME: devNull,
  PGPASSFILE: devNull,
  PGSERVICEFILE: devNull,
  PGSYSCONFDIR: devNull,
};

/**
 * Returns the environment of server processes. It leaves out variables such as PGDATA, PGPORT and LC_ALL, which would change the
 * server's behavior, and any keys. Libraries next to the program win over those of LD_LIBRARY_PATH, which are for others.
 * @param program the path of the program
 */
export function serverEnvironment(program: string): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TZ', 'TMPDIR', 'SystemRoot', 'SystemDrive', 'TEMP', 'TMP'];
  const environment = Object.fromEntries(
    kept.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
  );
  const folders = process.env['LD_LIBRARY_PATH'];
  const own = path.join(path.dirname(program), '..', 'lib');
  return {
    ...environment,
    ...FOREIGN_SERVERS,
    ...(folders && { LD_LIBRARY_PATH: `${own}:${folders}` }),
    LC_ALL: 'C',
    // Postgres itself removes LC_ALL. Then Windows would take the language of the system.
    LC_MESSAGES: 'C',
  };
}
