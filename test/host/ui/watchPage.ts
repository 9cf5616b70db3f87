import type { Page } from 'playwright-core';

/** Runs in the page: keeps every element that has the target as a link or image, the icon, or one of the characters. */
const WATCH = `(target, characters) => {
  const found = (globalThis.hostileFindings = new Set());
  const isBad = (text) => [...characters].some((each) => text.includes(each));
  const inEditor = (element) => element.closest('.monaco-editor .view-lines, .xterm') !== null;
  const check = (element) => {
    if (inEditor(element)) return;
    const describe = (what) => found.add(what + ': ' + (element.closest('[class]')?.className ?? '') + ' ' + element.outerHTML.slice(0, 300));
    for (const name of ['href', 'data-href', 'src'])
      if (element.getAttribute(name)?.includes(target)) describe('link or image');
    if (element.classList.contains('codicon-squirrel')) describe('icon');
    for (const { name, value } of element.attributes) if (isBad(value)) describe('character in ' + name);
    for (const node of element.childNodes)
      if (node.nodeType === Node.TEXT_NODE && isBad(node.data)) describe('character');
  };
  const checkAll = (element) => {
    check(element);
    for (const each of element.querySelectorAll('*')) check(each);
  };
  new MutationObserver((changes) => {
    for (const { target: changed } of changes) {
      const element = changed.nodeType === Node.ELEMENT_NODE ? changed : changed.parentElement;
      if (element !== null) checkAll(element);
    }
  }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
}`;

/** Watches everything that the page shows from now on, however briefly. */
export async function watchPage(page: Page, target: string, characters: string) {
  await page.evaluate(`(${WATCH})(${JSON.stringify(target)}, ${JSON.stringify(characters)})`);
  return {
    /** The most serious finding since the last call. */
    findings: () =>
      page.evaluate<string[]>(
        '(() => { const all = [...hostileFindings].toSorted().reverse().slice(0, 5); hostileFindings.clear(); return all; })()',
      ),
  };
}
