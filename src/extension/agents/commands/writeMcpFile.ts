/** Writes the server to the `.mcp.json` of a folder, after the user has seen the difference. */
import {
  commands,
  l10n,
  TabInputTextDiff,
  Uri,
  window as editors,
  workspace,
  type WorkspaceFolder,
} from 'vscode';
import { changeTextFile, readText } from '../../envFile/ui/fileChange.ts';
import type { LaunchCommand } from '../launcher.ts';
import { addMcpServer } from '../mcpFile.ts';
import { announce } from '../../window/ui/announce.ts';
import { singleStep } from '../../window/ui/input/multiStepInput.ts';
import { pickOne } from '../../window/ui/input/quickInput.ts';
import { window } from '../../window/ui/window.ts';

export const MCP_FILE = '.mcp.json';

/** The scheme of both sides of the difference, because the file may not exist yet. */
const SCHEME = 'hosted-postgres-mcp-file';

export async function writeMcpFile(
  folder: WorkspaceFolder,
  name: string,
  launch: LaunchCommand,
): Promise<void> {
  const file = Uri.joinPath(folder.uri, MCP_FILE);
  const before = await readText(file);
  let after: string;
  try {
    after = addMcpServer(before, name, launch);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return await offerOpening(file, error.message);
  }
  if (after === before) return announce(l10n.t('{0} already has the MCP server', MCP_FILE), 'info');
  if (!(await confirmDifference(before, after))) return;
  const isUnsaved = workspace.textDocuments.some(
    ({ uri, isDirty }) => isDirty && uri.toString() === file.toString(),
  );
  const written = isUnsaved
    ? undefined
    : await changeTextFile(file, (now) => (now === before ? after : undefined));
  if (written === undefined) throw new Error(l10n.t('{0} was changed in the meantime.', MCP_FILE));
  announce(l10n.t('Wrote {0}', MCP_FILE));
}

async function offerOpening(file: Uri, reason: string): Promise<void> {
  const open = l10n.t('Open');
  const message = l10n.t("Couldn't add the MCP server, because {0} isn't valid: {1}", MCP_FILE, reason);
  if ((await window.showErrorMessage(message, open)) === open) await editors.showTextDocument(file);
}

/** Shows the difference until the user has decided. */
async function confirmDifference(before: string, after: string): Promise<boolean> {
  const uriOf = (query: string) => Uri.from({ scheme: SCHEME, path: `/${MCP_FILE}`, query });
  const [old, proposed] = [uriOf('before'), uriOf('after')];
  const provider = workspace.registerTextDocumentContentProvider(SCHEME, {
    provideTextDocumentContent: ({ query }) => (query === old.query ? before : after),
  });
  try {
    const title = l10n.t('{0}: before and after', MCP_FILE);
    await commands.executeCommand('vscode.diff', old, proposed, title, { preview: true });
    // VS Code would hide a notification after 10 seconds, and the difference would stay without a button.
    const items = [
      { label: l10n.t('Write'), value: true },
      { label: l10n.t('Cancel'), value: false },
    ];
    const placeholder = l10n.t('Add the MCP server to {0}?', MCP_FILE);
    return (await singleStep(title, pickOne({ placeholder, items }))) === true;
  } finally {
    const tabs = editors.tabGroups.all.flatMap((group) => group.tabs);
    const shown = tabs.filter(
      ({ input }) => input instanceof TabInputTextDiff && input.modified.scheme === SCHEME,
    );
    await editors.tabGroups.close(shown);
    provider.dispose();
  }
}
