/** Where the running program is. */
import path from 'node:path';

/** The bundle, or this very file when the source itself runs. */
export const programFile = import.meta.filename;

/** From this source, from `dist/`, and from the bundle of `npm run service` in `node_modules/.cache/hosted-postgres/`. */
const WAY_UP: Readonly<Record<string, string>> = { '.ts': '../../..', '.js': '..', '.mjs': '../../..' };

/** The root folder of the extension or the clone. */
export const installationFolder = path.resolve(
  path.dirname(programFile),
  WAY_UP[path.extname(programFile)] ?? '.',
);
