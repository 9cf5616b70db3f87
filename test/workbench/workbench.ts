import path from 'node:path';
import type { Page } from 'playwright-core';
import { Dialog } from './dialog.ts';
import { Editor } from './editor.ts';
import { chooseFromMenu } from './menu.ts';
import { Notifications } from './notifications.ts';
import { openQuestion } from './openQuestion.ts';
import { QuickInput } from './quickInput.ts';
import { StatusBar } from './statusBar.ts';
import { Terminal } from './terminal.ts';
import { Tree } from './tree.ts';
import { until } from './until.ts';

/** One window of VS Code, used as a person uses it: with mouse and keyboard, by the text on screen. */
export class Workbench {
  readonly page: Page;
  readonly quickInput: QuickInput;
  readonly dialog: Dialog;
  readonly statusBar: StatusBar;
  readonly notifications: Notifications;
  readonly terminal: Terminal;

  constructor(page: Page) {
    this.page = page;
    this.quickInput = new QuickInput(page);
    this.dialog = new Dialog(page);
    this.statusBar = new StatusBar(page);
    this.notifications = new Notifications(page);
    this.terminal = new Terminal(page);
  }

  /** Waits until VS Code has restored the window. */
  async whenRestored(): Promise<void> {
    await this.page.waitForFunction('globalThis.driver !== undefined', undefined, { polling: 50 });
    await this.page.evaluate('globalThis.driver.whenWorkbenchRestored()');
    await this.statusBar.recordAnnouncements();
  }

  /** Shows a view container by its name in the activity bar. */
  async openView(name: string): Promise<void> {
    const tab = this.page.locator('.activitybar').getByRole('tab', { name });
    await tab.waitFor();
    const heading = this.page.locator('.part.sidebar').getByRole('heading', { name, level: 2 });
    if ((await tab.getAttribute('aria-selected')) !== 'true') await tab.click();
    await heading.waitFor();
    await tab.and(this.page.locator('[aria-selected="true"]')).waitFor();
  }

  /** Expands a view of the open view container. */
  async expandView(view: string): Promise<void> {
    await this.#setExpanded(view, true);
  }

  async collapseView(view: string): Promise<void> {
    await this.#setExpanded(view, false);
  }

  /** Returns the tree of the view with this name. */
  tree(view: string): Tree {
    return new Tree(this.page, view);
  }

  get computes(): Tree {
    return this.tree('Computes');
  }

  get apiKeys(): Tree {
    return this.tree('API Keys');
  }

  /** Runs a command from the palette by its whole title with the category: "Hosted Postgres: Refresh". */
  async runCommand(title: string): Promise<void> {
    await this.quickInput.runCommand(title);
  }

  /** Runs a command of the extension from the palette. */
  async run(title: string): Promise<void> {
    await this.runCommand(`Hosted Postgres: ${title}`);
  }

  /** Whether the palette offers a command of the extension. If it does not, it lists similar ones. */
  async isOffered(title: string): Promise<boolean> {
    await this.page.keyboard.press('F1');
    await this.quickInput.type(/./, `>Hosted Postgres: ${title}`);
    const first = await until(`the list for ${title}`, async () => (await this.quickInput.read())?.items[0]);
    await this.quickInput.cancel(/./);
    await this.quickInput.closed();
    return first === `Hosted Postgres: ${title}`;
  }

  /** Waits for a view's welcome text and returns it, including the labels of its buttons. */
  async welcomeText(view: string): Promise<string> {
    const content = this.#pane(view).locator('.welcome-view-content');
    return until(`the welcome text of ${view}`, async () => {
      const [text] = await content.filter({ visible: true }).allInnerTexts();
      return text !== undefined && text !== '' && text;
    });
  }

  /** Clicks a button or link in a view's welcome text. */
  async clickWelcome(view: string, label: string): Promise<void> {
    await this.#pane(view).locator('.welcome-view-content').getByText(label, { exact: true }).click();
  }

  /** Returns the message above a view's tree, or an empty string. */
  async viewMessage(view: string): Promise<string> {
    const message = this.#pane(view).locator('.tree-explorer-viewlet-tree-view > .message:not(.hide)');
    return (await message.allInnerTexts()).join('\n');
  }

  /** Waits for a message above the tree of computes. It is empty without a message. */
  async waitForMessage(expected: RegExp): Promise<void> {
    await until(
      async () => `${String(expected)} above the tree; shown: ${await this.viewMessage('Computes')}`,
      async () => expected.test(await this.viewMessage('Computes')),
    );
  }

  /** Returns the description next to a view's title, or an empty string. */
  async viewDescription(view: string): Promise<string> {
    const description = this.#pane(view).locator('.pane-header .description');
    return (await description.allInnerTexts()).join('');
  }

  /** Clicks an action in a view's title, or in its "…" menu if it has no button. */
  async viewAction(view: string, action: string): Promise<void> {
    const header = this.#pane(view).locator('.pane-header');
    await header.hover();
    const button = header.getByRole('button', { name: action, exact: true });
    if ((await button.count()) > 0) {
      await button.click();
      return;
    }
    const more = header.getByRole('button', { name: 'More Actions...' });
    await chooseFromMenu(this.#pane(view), () => more.click(), [action]);
  }

  /** Opens a file of the folder by its name, with the keyboard focus in it. */
  async openFile(name: string): Promise<void> {
    await this.page.keyboard.press('ControlOrMeta+p');
    // Until VS Code has listed the files again, it searches a name in its list of the time before, without new files.
    const folder = new URL(this.page.url()).searchParams.get('folder') ?? '';
    await this.quickInput.type('Search files by name', `${folder}/${name}`);
    await this.quickInput.choose('Search files by name', path.basename(name));
    await new Editor(this.page).waitForFile(name);
  }

  /** Opens another folder in this window. */
  async openFolder(folder: string): Promise<void> {
    const address = new URL(this.page.url());
    address.searchParams.set('folder', folder);
    await this.page.goto(String(address));
    await this.whenRestored();
  }

  /** Waits for a text in the clipboard and returns it. */
  async waitForClipboard(expected: string | RegExp): Promise<string> {
    let text = '';
    return until(
      async () =>
        `${String(expected)} in the clipboard; it contains ${text.slice(0, 10)}…; shown: ${await this.#shown()}`,
      async () => {
        text = await this.readClipboard();
        return (typeof expected === 'string' ? text === expected : expected.test(text)) && text;
      },
    );
  }

  /** Returns an open question and the notifications, for the message of a failure. */
  async #shown(): Promise<string> {
    const notifications = await this.notifications.all().catch(() => 'unknown');
    return `${await openQuestion(this.page)}, ${JSON.stringify(notifications)}`;
  }

  async readClipboard(): Promise<string> {
    return this.page.evaluate<string>('navigator.clipboard.readText()');
  }

  /** Drags the edge of the side bar until it has this width, in pixels. */
  async setSideBarWidth(width: number): Promise<void> {
    const sideBar = this.page.locator('.part.sidebar');
    const { mouse } = this.page;
    await until(`a side bar of ${width} px`, async () => {
      const box = await sideBar.boundingBox();
      if (box === null || box.width === width) return box !== null;
      const y = box.y + box.height / 2;
      await mouse.move(box.x + box.width, y);
      await mouse.down();
      await mouse.move(box.x + width, y, { steps: 5 });
      await mouse.up();
      return false;
    });
  }

  /** Saves a PNG of the window, with every animation at its end. */
  async screenshot(file: string): Promise<void> {
    await this.page.screenshot({ path: file, animations: 'disabled' });
  }

  /** Reloads the window, which starts a new extension host with the same stored state. */
  async reload(): Promise<void> {
    await this.page.reload();
    await this.whenRestored();
  }

  async #setExpanded(view: string, expanded: boolean): Promise<void> {
    const header = this.#pane(view).locator('.pane-header');
    if ((await header.getAttribute('aria-expanded')) === String(expanded)) return;
    await header.click();
    await header.and(this.page.locator(`[aria-expanded="${expanded}"]`)).waitFor();
  }

  #pane(view: string) {
    const title = this.page.locator('h3.title').getByText(view, { exact: true });
    const header = this.page.locator('.pane-header').filter({ has: title });
    return this.page.locator('.part.sidebar .pane').filter({ has: header });
  }
}
