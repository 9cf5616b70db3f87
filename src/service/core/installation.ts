/** Where the running program is. */
import path from 'node:path';

/** The bundle, or this file if the source itself runs. */
export const programFile = import.meta.filename;

/** From this source, from `dist/`, and from the bundle of `npm run service` in `node_modules/.cache/hosted-postgres/`. */
const PATH_TO_ROOT: Readonly<Record<string, string>> = { '.ts': '../../..', '.js': '..', '.mjs': '../../..' };

/** The root folder of the extension or the clone. */
export const installationFolder = path.resolve(
  path.dirname(programFile),
  PATH_TO_ROOT[path.extname(programFile)] ?? '.',
);
