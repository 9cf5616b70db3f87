import { l10n } from 'vscode';
import type { Branch, Compute } from '../../../api/records/records.ts';
import { connectionString } from '../../connection/connectionStrings.ts';
import { parseDatabaseUrl } from '../../../api/addresses/databaseUrl.ts';
import { leftVariablesText, offerUndo, type WriteEnvVariable } from '../../envFile/ui/envFile.ts';
import { FolderEnv } from '../../envFile/ui/folderEnv.ts';
import { findRelatedVariables } from '../relatedVariables.ts';
import { findBranchUrl } from '../findBranchUrl.ts';
import { computeHost } from '../../connection/branchLogin.ts';
import { findOrAskPassword, proposedOrChosenLogin } from '../../connection/commands/login.ts';
import type { CommandContext } from '../../commandSupport/context.ts';
import { requirePrimary } from '../../commandSupport/pickers.ts';
import { isCheckedOut, mapBranch, type GitFolder } from './gitFolder.ts';
import type { BranchRef } from '../../account/refs.ts';
import { resourceText } from '../../inventory/ui/resourceText.ts';

interface WrittenBranch {
  readonly title: string;
  readonly git: GitFolder;
  readonly ref: BranchRef;
  readonly branch: Branch;
  readonly write: WriteEnvVariable;
}

/** Writes the URL of a database branch to the env file, with Undo, and maps the git branch to it. */
export async function writeBranchUrl(context: CommandContext, written: WrittenBranch): Promise<void> {
  const { git, ref, branch, write, title } = written;
  const compute = await requirePrimary(context, ref);
  const env = new FolderEnv(context.config, git.folder);
  const url = await findUrl(context, title, { ref, compute, env });
  if (url === undefined) return;
  // The host is remembered before the file is written, so that the status bar knows it.
  await context.knownHosts.remember(context.inventory, ref.account, [compute]);
  const work = context.workFolders.of(git.folder);
  const map = async () => mapBranch(context, git, ref, branch.name);
  // The user may have checked out another git branch during the questions.
  if (await isCheckedOut(git)) {
    const { changes: related, left } = await findRelatedVariables(
      context,
      (await env.read()).text,
      env.name,
      ref,
    );
    // Until the map is written, too, the file must not follow the earlier one.
    const kept = work?.state.isUndone === true ? git.gitBranch : undefined;
    work?.setUndone(git.gitBranch);
    try {
      const changes = await write(url, related);
      if (changes === undefined) return;
      const markUndone = () => work?.setUndone(git.gitBranch);
      const message = `${l10n.t('{0} points to {1}', env.file, resourceText(context.inventory, { ...ref, name: branch.name }))}${leftVariablesText(left)}`;
      // The notice comes when all is written, so that no write comes after Undo.
      await map().finally(() => void offerUndo(context.log, message, changes, markUndone));
    } finally {
      work?.setUndone(kept);
      await work?.refresh();
    }
  } else {
    await map();
    await work?.refresh();
  }
}

/** Keeps the role, database and parameters of a value that points to the same project. */
async function findUrl(
  context: CommandContext,
  title: string,
  target: { readonly ref: BranchRef; readonly compute: Compute; readonly env: FolderEnv },
): Promise<string | undefined> {
  const { ref, compute, env } = target;
  const { value = '' } = await env.read();
  const current = context.knownHosts.get(parseDatabaseUrl(value)?.host ?? '');
  if (current?.account === ref.account && current.projectId === ref.projectId) {
    const found = await findBranchUrl(context, ref, { name: env.name, value });
    if (found.value !== undefined) return found.value;
  }
  const request = { title, compute, scope: env.uri, allowsPooled: true, takesFirst: true };
  const login = await proposedOrChosenLogin(context, request);
  const answer = login && (await findOrAskPassword(context, request, login));
  if (login === undefined || answer === undefined) return undefined;
  const url = connectionString({ ...login, ...answer, host: computeHost(compute, login.pooled) });
  return await context.knownHosts.withFormerTls({ name: env.name, value }, url, ref.account);
}
