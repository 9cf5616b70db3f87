/** Which of the id and the name of a branch or compute is its label: what the user chose in the view's menu. */
import { sanitize } from './sanitize.ts';

let areNamesFirst = false;

export function setNamesFirst(areFirst: boolean): void {
  areNamesFirst = areFirst;
}

/** The description is empty if there is only an id. */
export function idAndName(
  id: string,
  name: string | null | undefined,
): { readonly label: string; readonly description: string } {
  const [shownId, shownName] = [sanitize(id), sanitize(name ?? '')];
  if (shownName === '' || shownName === shownId) return { label: shownId, description: '' };
  return areNamesFirst
    ? { label: shownName, description: shownId }
    : { label: shownId, description: shownName };
}
