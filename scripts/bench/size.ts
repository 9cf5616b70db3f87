/** The sizes of what ships, compared with the size budget. */
import path from 'node:path';
import { gzipped, measureSizes, readBudget } from './budget.ts';
import { kilobytes, type Result } from './result.ts';
import { stage } from './staging.ts';

export async function measure(): Promise<readonly Result[]> {
  const staged = await stage({ package: true });
  try {
    const dist = path.join(staged.folder, 'dist');
    const [sizes, budget] = [await measureSizes(dist), await readBudget()];
    const compressed = kilobytes(await gzipped(path.join(dist, 'extension.js')));
    const row = (what: string, size: number | undefined, limit: number, note: string): Result => ({
      what: `size, ${what}`,
      ours: size === undefined ? 'not packaged' : kilobytes(size),
      baseline: `${kilobytes(limit)} budget`,
      ratio: size === undefined ? undefined : size / limit,
      goal: '≤ 1 ×',
      met: size !== undefined && size <= limit,
      note,
    });
    return [
      row('dist/extension.js', sizes.activation, budget.activation, `${compressed} gzipped`),
      row('all bundles', sizes.extension, budget.extension, 'without the local service'),
      row('.vsix', sizes.package, budget.package, 'with the local service, without Postgres'),
    ];
  } finally {
    await staged.remove();
  }
}
