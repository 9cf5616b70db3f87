import { answers, questions } from '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';

const { hasOpenMessage, safeItem, safeRow, setViewMessage, window } =
  await import('../../../../../src/extension/window/ui/window.ts');
const { markdown, markdownList, markdownTable, withCommandLinks } =
  await import('../../../../../src/extension/window/ui/markdown.ts');
const { timeAgo, formatDate, timeAndDate, timeLeft } =
  await import('../../../../../src/extension/window/ui/timeText.ts');
const { TreeItem } = await import('vscode');

const HOSTILE = `[click](command:workbench.action.terminal.new) $(trash) a\u202eb\u0007${'x'.repeat(4096)}`;
const LINK_OR_ICON = /\]\(|\$\(/;
const isSafe = (text: unknown) => {
  assert.ok(typeof text === 'string');
  assert.doesNotMatch(text, LINK_OR_ICON);
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
};

describe('window', () => {
  beforeEach(() => {
    answers.length = 0;
    questions.length = 0;
  });

  it('shows messages without links and returns the button as the caller named it', async () => {
    answers.push('a b');
    assert.equal(await window.ask(HOSTILE, `1\n${HOSTILE}`, 'a\nb'), 'a\nb');
    assert.equal(await window.showWarningMessage(HOSTILE, 'Again'), undefined);
    assert.equal(await window.showResult(HOSTILE, HOSTILE, 'Copy'), false);
    for (const question of questions) isSafe(question);
    assert.match(questions[0] ?? '', / 1\n\[click\] \(command/);
  });

  it('does not wait until the user clears a message that has no button', async () => {
    for (const show of [window.showInformationMessage, window.showWarningMessage, window.showErrorMessage])
      assert.equal(await show('Nothing to recover'), undefined);
    assert.equal(questions.length, 3);
    assert.equal(hasOpenMessage(), false);
  });

  it('asks for text without links in any field', async () => {
    await window.showInputBox({ title: HOSTILE, prompt: HOSTILE, validateInput: () => HOSTILE });
    isSafe(questions[0]);
  });

  it('makes items, rows and messages of views safe', () => {
    const item = safeItem({ label: HOSTILE, description: HOSTILE, detail: HOSTILE, value: HOSTILE });
    for (const text of [item.label, item.description, item.detail]) isSafe(text);
    assert.equal(item.value, HOSTILE);
    const row = new TreeItem(HOSTILE);
    row.description = HOSTILE;
    row.accessibilityInformation = { label: HOSTILE };
    assert.equal(safeRow(row), row);
    for (const text of [row.label, row.description, row.accessibilityInformation.label]) isSafe(text);
    const view: { message?: string } = {};
    setViewMessage(view, HOSTILE);
    isSafe(view.message);
  });
});

describe('markdown', () => {
  it('escapes values and titles, and keeps other Markdown', () => {
    const table = markdownTable('[x](y)', [['name', '![image](https://example.test/x.png)']]);
    const all = markdown`${table} ${'<b>'} ${markdownList(['*a*'])}`;
    assert.match(all.value, /\*\*\\\[x\\\]\\\(y\\\)\*\*/);
    assert.match(all.value, /\| name \| \\!\\\[image\\\]\\\(https\\:\\\/\\\/example/);
    assert.match(all.value, /&lt;b\\> - \\\*a\\\*$/);
  });

  it('trusts only the commands that it links', () => {
    const command = 'hostedPostgres.log.show';
    const linked = withCommandLinks(markdown`${'text'}`, { [command]: 'Do it' }, { id: ')(' });
    assert.deepEqual(linked.isTrusted, { enabledCommands: [command] });
    assert.match(linked.value, /^text\n\n\[Do it\]\(command:hostedPostgres\.log\.show\?[^()]*\)$/);
  });
});

describe('texts that are not dates', () => {
  it('are shown as short and safe text', () => {
    for (const show of [formatDate, timeAndDate, timeLeft, timeAgo]) {
      isSafe(show(HOSTILE));
      assert.equal(show(HOSTILE).length, 40);
      assert.equal(show('soon'), 'soon');
    }
  });
});
