/** Loads and activates the packaged extension in a real VS Code, compared with an empty one in the same window. */
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { temporaryFolder } from '../../test/helpers/localService.ts';
import { launchBrowser } from '../../test/workbench/chromium.ts';
import { installExtension, startServer } from '../../test/workbench/server.ts';
import { until } from '../../test/workbench/until.ts';
import { comparison, median, medianRatio, ms, type Result } from './result.ts';
import { stage } from './staging.ts';

const LOADS = 10;
const GOAL = 8;

/** What the probe measured for one extension; see extensions/probe. Times in milliseconds. */
interface Activation {
  readonly load: number;
  readonly activate: number;
  /** The modules of Node and VS Code that it imports. */
  readonly modules: readonly string[];
  /** What it loaded during activation and in the seconds after it. */
  readonly lazy: readonly string[];
  /** Calls of `fetch` during activation, and calls of the secret storage then and in the seconds after it. */
  readonly uses: readonly string[];
}

type Report = Readonly<Record<'hosted-postgres.hosted-postgres' | 'bench.empty', Activation>>;

export async function measure(): Promise<readonly Result[]> {
  const home = temporaryFolder();
  const staged = await stage({ package: true });
  const reportFile = path.join(home, 'report.json');
  const dataFolder = path.join(home, 'data');
  try {
    await installExtension(dataFolder, path.join(staged.folder, 'dist', 'hosted-postgres.vsix'));
    await addExtensions(path.join(dataFolder, 'extensions'));
    const env = { BENCH_PROBE_FILE: reportFile };
    const server = await startServer({ dataFolder, testDriver: true, env });
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(server.address(home));
      return [resultOf(await loads(page, reportFile))];
    } finally {
      await browser.close();
      await server.stop();
    }
  } finally {
    await staged.remove();
  }
}

/** Adds the empty extension and the probe, which activates it and ours. */
async function addExtensions(folder: string): Promise<void> {
  const ours = (await readdir(folder)).find((name) => name.startsWith('hosted-postgres.')) ?? '';
  const file = path.join(folder, ours, 'package.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...manifest, activationEvents: [] }));
  for (const name of ['empty', 'probe']) {
    const from = path.join(import.meta.dirname, 'extensions', name);
    await cp(from, path.join(folder, `bench.${name}-0.0.1`), { recursive: true });
  }
  // Without its list of extensions, VS Code reads the folder.
  await rm(path.join(folder, 'extensions.json'), { force: true });
}

/** Every load of the window starts a new extension host. The first load only fills caches. */
async function loads(page: Page, reportFile: string): Promise<readonly Report[]> {
  const reports: Report[] = [];
  for (let load = 0; load <= LOADS; load += 1) {
    if (load > 0) await page.reload();
    const text = await until(
      'the report of the probe',
      () => readFile(reportFile, 'utf8').catch(() => undefined),
      30_000,
    );
    await rm(reportFile);
    if (load > 0) reports.push(JSON.parse(text));
  }
  return reports;
}

function resultOf(reports: readonly Report[]): Result {
  const time = ({ load, activate }: Activation) => load + activate;
  const ours = reports.map((report) => report['hosted-postgres.hosted-postgres']);
  const empty = reports.map((report) => report['bench.empty']);
  const pairs = { ours: ours.map(time), baseline: empty.map(time) };
  const ratio = medianRatio(pairs);
  const modules = [...new Set(ours.flatMap((each) => each.modules))];
  const uses = [...new Set(ours.flatMap((each) => [...each.uses, ...each.lazy]))];
  return comparison(pairs, {
    what: 'activation',
    unit: ms,
    baseline: 'an empty extension',
    goal: `≤ ${GOAL} ×, no network, no secret`,
    met: ratio <= GOAL && uses.length === 0,
    note: `${LOADS} loads: ${ms(median(ours.map(({ load }) => load)))} to load, ${ms(median(ours.map(({ activate }) => activate)))} in activate(); modules: ${modules.join(', ')}${uses.length > 0 ? `; uses ${uses.join(', ')}` : ''}`,
  });
}
