/** The Computes view at several widths: how many names VS Code cuts. Themes change no widths, and German has longer words. */
import assert from 'node:assert/strict';
import { branchCalls } from '../../helpers/branchCalls.ts';
import { until } from '../../workbench/until.ts';
import { connect, useService } from './connect.ts';
import { useWorkbench } from './useWorkbench.ts';

/** How many names may be cut at each width. 300 is VS Code's default, and 170 the smallest. */
const MOST_CUT = {
  English: { 170: 4, 225: 0, 300: 0, 400: 0 },
  German: { 170: 11, 225: 0, 300: 0, 400: 0 },
};
/** How many rows the view has at least. */
const ROWS = 28;
const PROJECT = 'shiny-wind-028834';
/** Two branches of git whose names differ only at the end. */
const GIT_BRANCHES = ['feature/checkout-v1', 'feature/checkout-v2'];

interface Box {
  readonly textContent: string | null;
  getBoundingClientRect(): { readonly left: number; readonly right: number };
  closest(selector: string): Box | null;
}

describe('The names of the Computes view', () => {
  const ui = useWorkbench({ size: { width: 1100, height: 1000 } });
  const service = useService({ args: [] });

  before(async () => {
    const api = branchCalls(service());
    for (const name of GIT_BRANCHES) await api.createBranch(PROJECT, { name });
    await connect(ui(), service(), 'shop');
    for (const project of ['analytics', 'playground']) await ui().computes.expandProject(project);
  });

  /** Returns the names that end beyond the right edge of their row, and how many names there are. */
  const cutNames = () =>
    ui()
      .page.locator('.part.sidebar [role="tree"][aria-label="Computes"] .monaco-list-row .label-name')
      .evaluateAll((names: Box[]) => {
        const isCut = (name: Box) => {
          const row = name.closest('.monaco-icon-label-container')?.getBoundingClientRect();
          return row !== undefined && name.getBoundingClientRect().right > row.right + 0.5;
        };
        return { count: names.length, cut: names.filter(isCut).map(({ textContent }) => textContent ?? '') };
      });

  const check = async (language: keyof typeof MOST_CUT) => {
    for (const [width, most] of Object.entries(MOST_CUT[language])) {
      await ui().setSideBarWidth(Number(width));
      const { count, cut } = await cutNames();
      assert.ok(count >= ROWS, `${count} rows`);
      assert.ok(cut.length <= most, `${language}, ${width} px: ${cut.join(', ')}`);
      // At the smallest width, the test finds the names that are too long for it.
      if (width === '170') assert.ok(GIT_BRANCHES.every((name) => cut.includes(name)));
    }
  };

  it('are whole at the default width, in each theme', async () => {
    for (const theme of ['Dark High Contrast', 'Light Modern', 'Dark Modern']) {
      await ui().runCommand('Preferences: Color Theme');
      await ui().quickInput.choose('Select Color Theme', theme);
      await ui().quickInput.closed();
      await ui().setSideBarWidth(300);
      assert.deepEqual((await cutNames()).cut, [], theme);
    }
    await check('English');
  });

  it('are whole in German, too', async () => {
    await ui().page.addInitScript(
      `Object.defineProperty(globalThis, '_VSCODE_NLS_LANGUAGE', { get: () => 'de', set() {} })`,
    );
    await ui().reload();
    await ui().openView('Hosted Postgres');
    await until('all rows in German', async () => {
      const labels = await ui().computes.labels();
      const hasNames = !labels.some((label) => /^Branch br-[\w-]+/.test(label));
      return hasNames && labels.length >= ROWS && labels.some((label) => label.startsWith('Projekt '));
    });
    await check('German');
  });
});
