/** Write DATABASE_URL to .env. The settings may name another variable and file. */
import { l10n, window as vscodeWindow, workspace, type WorkspaceFolder } from 'vscode';
import { resourceText } from '../../inventory/ui/resourceText.ts';
import { leftVariablesText, offerUndo, prepareEnvWrite } from '../../envFile/ui/envFile.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { findRelatedVariables } from '../relatedVariables.ts';
import { requireTrust } from '../../window/ui/workspace.ts';
import type { Command } from '../../commandSupport/context.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';
import { askForUri } from '../../connection/commands/connectionString.ts';
import { pickComputeRecord } from '../../connection/commands/copyHost.ts';

export const writeEnv: Command = async (context, argument, run) => {
  run.failureMessage = l10n.t("Couldn't write the connection string");
  requireTrust();
  const folder = await pickFolder(l10n.t('Write Connection String'));
  if (folder === undefined) return;
  const env = new FolderEnv(context.config, folder);
  const { name, file, uri } = env;
  run.failureMessage = l10n.t("Couldn't write {0}", name);
  const title = l10n.t('Write {0} to {1}', name, file);
  const compute = await pickComputeRecord(context, title, argument);
  if (compute === undefined) return;
  // The branches are loaded, so that questions and the status bar show the name of the branch.
  await context.inventory.branches.ensureLoaded(compute.project_id);
  const account = context.session.requireConnection().accountId;
  const result = await askForUri(context, { title, compute, scope: uri });
  if (result === undefined) return;
  const ref = { account, projectId: compute.project_id, branchId: compute.branch_id };
  const target = resourceText(context.inventory, ref);
  const write = await prepareEnvWrite(env, target, context.knownHosts.isOwn);
  if (write === undefined) return;
  context.session.requireSameAccount(run.initialConnection);
  await context.knownHosts.remember(context.inventory, account, [compute]);
  const { text, value = '' } = await env.read();
  const { changes: related, left } = await findRelatedVariables(context, text, name, ref);
  const url = await context.knownHosts.withFormerTls({ name, value }, result.uri, account);
  const changes = await write(url, related);
  if (changes === undefined) return;
  await vscodeWindow.showTextDocument(changes.at(-1)?.uri ?? uri);
  void offerUndo(
    context.log,
    `${l10n.t('Wrote {0} of {1} to {2}', name, target, file)}${leftVariablesText(left)}`,
    changes,
  );
  await context.workFolders.of(folder)?.refresh();
};

/** Returns undefined if the user canceled. @throws {Error} if no folder is open */
export async function pickFolder(title: string): Promise<WorkspaceFolder | undefined> {
  const folders = workspace.workspaceFolders ?? [];
  const [first, second] = folders;
  if (first === undefined) throw new Error(l10n.t('No folder is open.'));
  if (second === undefined) return first;
  const items = folders.map((folder) => ({
    label: folder.name,
    description: workspace.asRelativePath(folder.uri, false),
    value: folder,
  }));
  const placeholder = l10n.t('Select a folder');
  return await singleStep(title, pickOne({ placeholder, items }));
}
