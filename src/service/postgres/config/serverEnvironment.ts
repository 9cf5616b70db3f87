import path from 'node:path';

/**
 * The environment of server processes. It leaves out variables such as PGDATA, PGPORT and LC_ALL, which would change the
 * server's behavior, and any keys. Libraries next to the program win over those of LD_LIBRARY_PATH, which are for others.
 * @param program its path
 */
export function serverEnvironment(program: string): NodeJS.ProcessEnv {
  const kept = ['PATH', 'TZ', 'TMPDIR', 'SystemRoot', 'SystemDrive', 'TEMP', 'TMP'];
  const environment = Object.fromEntries(
    kept.filter((name) => process.env[name] !== undefined).map((name) => [name, process.env[name]]),
  );
  const folders = process.env['LD_LIBRARY_PATH'];
  const own = path.join(path.dirname(program), '..', 'lib');
  return { ...environment, ...(folders && { LD_LIBRARY_PATH: `${own}:${folders}` }), LC_ALL: 'C' };
}
