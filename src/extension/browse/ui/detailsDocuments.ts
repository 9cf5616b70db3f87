/** Shows the fields of a resource as a read-only document, which VS Code may reopen after a reload. */
import { l10n, workspace, type EventEmitter, type Uri } from 'vscode';
import type { Disposable } from '../../../base/disposable.ts';
import { detailsOwner, readDetails, readServerLog, type DetailsDependencies } from '../details.ts';
import { DETAILS_SCHEME } from '../detailsScheme.ts';
import { projectsOf } from '../../inventory/nodes.ts';
import { explainError } from '../../window/ui/errorMessage.ts';

/** @param changed fired when the resource of an open document may have changed */
export const followDetails = (
  { inventory }: Pick<DetailsDependencies, 'inventory'>,
  changed: EventEmitter<Uri>,
): Disposable =>
  inventory.onDidChange((changes) => {
    const projects = projectsOf(changes);
    for (const { uri } of workspace.textDocuments) {
      if (uri.scheme !== DETAILS_SCHEME) continue;
      const { node } = detailsOwner(uri);
      if (node !== undefined && 'projectId' in node && projects.has(node.projectId)) changed.fire(uri);
    }
  });

/** @throws {Error} with a message for the user */
export async function detailsText(deps: DetailsDependencies, uri: Uri): Promise<string> {
  try {
    if (detailsOwner(uri).isLog) return logText(await readServerLog(deps, uri));
    return (await readDetails(deps, uri)) ?? `// ${l10n.t('It no longer exists.')}\n`;
  } catch (error) {
    throw new Error(explainError(error).message, { cause: error });
  }
}

function logText(lines: readonly string[] | undefined): string {
  if (lines === undefined) return `${l10n.t('The service provides no Postgres log.')}\n`;
  if (lines.length === 0) return `${l10n.t('Postgres has logged nothing since the service started.')}\n`;
  return `${lines.join('\n')}\n`;
}
