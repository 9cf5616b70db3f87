/**
 * The part of a DOM element that functions running inside the page use. The project is compiled without the DOM types,
 * so that the extension cannot use `window` by mistake.
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
