/** Names a resource with what it is in, because many branches are called `main`. */
import { l10n } from 'vscode';
import type { ResourceRef } from '../../account/refs.ts';
import { sanitize } from '../../../base/sanitize.ts';
import { namesOf, type ResourceNames } from '../names.ts';

type NamedInventory = Parameters<typeof namesOf>[0];

/** Returns text such as `shop`, `main (shop)` or `the primary of main (shop)`, which never begins a sentence. */
export const resourceText = (inventory: NamedInventory, resource: ResourceRef): string =>
  namesText(namesOf(inventory, resource));

export function namesText({ project, branch, compute, snapshot }: ResourceNames): string {
  const place = branch === undefined ? project : `${branch} (${project})`;
  if (snapshot !== undefined) return l10n.t('the snapshot {0} of {1}', sanitize(snapshot), place);
  if (compute === undefined) return place;
  // After a reload of the window, the list of computes may be missing, so nobody knows whether this one is the primary.
  if (compute.isPrimary === undefined) return `${compute.name} (${place})`;
  return compute.isPrimary
    ? l10n.t('the primary of {0}', place)
    : l10n.t('the read replica {0} of {1}', compute.name, place);
}
