/**
 * As much of a page's element as the functions that run inside the page read here. The project is compiled
 * without the browser's types, so that nothing of the extension takes a `window` for granted.
 */
export interface PageElement {
  readonly textContent: string | null;
  readonly className: string;
  readonly id: string;
  readonly style: { readonly display: string };
  getAttribute(name: string): string | null;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}
