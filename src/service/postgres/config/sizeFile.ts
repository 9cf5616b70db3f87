/** The settings that depend on a compute's current size. They are in a separate file because the size changes at run time. */
import path from 'node:path';
import { computeSize } from '../../../api/records/sizes.ts';
import { writePrivateFile } from '../data/privateFiles.ts';

/** Name of the file in the data directory; `postgresql.conf` includes it. */
export const SIZE_FILE = 'size.conf';

/** Takes effect at the server's next start or reload. */
export function writeSizeFile(dataDir: string, cu: number): void {
  const cache = (computeSize(cu)?.fileCacheGb ?? 0) * 1024;
  writePrivateFile(path.join(dataDir, SIZE_FILE), `effective_cache_size = '${Math.floor(cache)}MB'\n`);
}
