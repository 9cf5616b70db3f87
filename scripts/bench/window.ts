/**
 * A real window with a large account, compared with one that has as many projects and few computes: how soon the tree answers a click, what the extension host
 * takes, and which rows a refresh draws again when nothing has changed.
 */
import { readFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { startLocalService, temporaryFolder, type LocalService } from '../../test/helpers/localService.ts';
import { connect } from '../../test/host/ui/connect.ts';
import { openWorkbench, type OpenWorkbench } from '../../test/workbench/open.ts';
import { processTree } from '../../test/workbench/processes.ts';
import { until } from '../../test/workbench/until.ts';
import { comparison, measureInTurns, medianRatio, megabytes, ms, type Pairs, type Result } from './result.ts';
import { projectsFile, type AccountSize } from './sampleAccount.ts';

const LARGE = { projects: 200, computesPerProject: 100 };
/** As many projects, so that VS Code's own tree has the same work. */
const SMALL = { projects: 200, computesPerProject: 1 };
const CLICKED = 12;
const GOAL = 2;
const TREE = '.pane-body [role="tree"][aria-label="Computes"]';

export async function measure(): Promise<readonly Result[]> {
  const services: LocalService[] = [];
  const windows: OpenWorkbench[] = [];
  try {
    for (const size of [LARGE, SMALL]) {
      const service = await startWithAccount(size);
      services.push(service);
      const window = await openWorkbench();
      windows.push(window);
      await connect(window, service);
      await window.viewAction('Computes', 'Collapse All');
    }
    const [large, small] = windows;
    if (large === undefined || small === undefined) throw new Error('no windows');
    const clicks = await clickProjects(large, small);
    for (const window of windows) await expandFromTheEnd(window);
    const [ours, baseline] = [await hostMemory(large), await hostMemory(small)];
    return [clickRow(clicks), memoryRow(ours, baseline), redrawnRow(await redrawnRows(large))];
  } finally {
    for (const window of windows) await window.close();
    for (const service of services) await service.stop();
  }
}

async function startWithAccount(size: AccountSize): Promise<LocalService> {
  const file = path.join(temporaryFolder(), 'projects.json');
  writeFileSync(file, projectsFile(size));
  return startLocalService({ postgres: false, args: ['--projects', file] });
}

/** Clicks the same projects of both, one after the other, and collapses each again. */
async function clickProjects(large: OpenWorkbench, small: OpenWorkbench): Promise<Pairs> {
  const clicks = (window: OpenWorkbench) => {
    let project = 0;
    return async () => {
      const row = window.page.locator(`${TREE} [role="treeitem"]`).nth((project += 1) - 1);
      await window.page.evaluate(`(${ANSWERED})()`);
      await row.locator('.monaco-tl-twistie').click();
      const time = await window.page.evaluate<number>('answered');
      await row.locator('.monaco-tl-twistie').click();
      await window.page.locator(`${TREE} [aria-level="2"]`).first().waitFor({ state: 'hidden' });
      return time;
    };
  };
  return measureInTurns(CLICKED, 0, { ours: clicks(large), baseline: clicks(small) });
}

/** Runs in the page: the milliseconds from the next press of the mouse to the first row below a project. */
const ANSWERED = `() => {
  const tree = document.querySelector('${TREE}');
  globalThis.answered = new Promise((resolve) => {
    tree.addEventListener('mousedown', () => {
      const pressedAt = performance.now();
      new MutationObserver((_, observer) => {
        if (tree.querySelector('[aria-level="2"]') === null) return;
        observer.disconnect();
        resolve(performance.now() - pressedAt);
      }).observe(tree, { subtree: true, childList: true });
    }, { capture: true, once: true });
  });
}`;

/** From the end, the row above an expanded project is always the project before it. */
async function expandFromTheEnd({ page, computes }: OpenWorkbench): Promise<void> {
  await computes.click(/^Project /);
  await page.keyboard.press('End');
  for (let count = 0; count < LARGE.projects; count += 1)
    for (const key of ['ArrowRight', 'ArrowUp']) await page.keyboard.press(key);
  await until('the rows of the first project', async () =>
    (await computes.labels())[1]?.startsWith('Branch'),
  );
}

/** Megabytes. */
async function hostMemory({ server }: OpenWorkbench): Promise<number> {
  for (const pid of await processTree([server.pid])) {
    const [command, status] = await Promise.all(
      ['cmdline', 'status'].map(async (name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
    );
    const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status ?? '')?.[1];
    if (command?.includes('--type=extensionHost') === true && kilobytes !== undefined)
      return Number(kilobytes) / 1024;
  }
  throw new Error('The window has no extension host');
}

/** The rows that a refresh draws when the service has no change. */
async function redrawnRows(window: OpenWorkbench): Promise<number> {
  await window.page.evaluate(`(${DRAWN})()`);
  await window.viewAction('Computes', 'Refresh');
  const progress = window.page.locator(
    '.pane:has([aria-label="Computes"]) .monaco-progress-container.active',
  );
  await progress.waitFor();
  await progress.waitFor({ state: 'detached' });
  return window.page.evaluate<number>('drawn');
}

/** Runs in the page: counts the rows whose text or attributes change from now on. */
const DRAWN = `() => {
  const rows = new Set();
  globalThis.drawn = 0;
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      const row = (target.closest ? target : target.parentElement)?.closest('[role="treeitem"]');
      if (row && row.getAttribute('aria-level') !== null) rows.add(row);
    }
    globalThis.drawn = rows.size;
  }).observe(document.querySelector('${TREE} .monaco-list-rows'), { subtree: true, childList: true, characterData: true });
}`;

function clickRow(pairs: Pairs): Result {
  return comparison(pairs, {
    what: 'window: first click on a project',
    unit: ms,
    baseline: `with ${SMALL.computesPerProject} compute each`,
    goal: `≤ ${GOAL} ×`,
    met: medianRatio(pairs) <= GOAL,
    note: `${LARGE.projects} projects with ${LARGE.computesPerProject} computes each; until the first row below it`,
  });
}

function memoryRow(ours: number, baseline: number): Result {
  return {
    what: 'window: extension host',
    ours: megabytes(ours),
    baseline: `${megabytes(baseline)} with few computes`,
    ratio: ours / baseline,
    goal: '',
    met: true,
    note: 'resident memory with all projects expanded, also what Node still has to free',
  };
}

const redrawnRow = (rows: number): Result => ({
  what: 'window: refresh without a change',
  ours: `${rows} rows drawn`,
  baseline: '',
  ratio: undefined,
  goal: 'none',
  met: rows === 0,
  note: `${LARGE.projects} expanded projects`,
});
