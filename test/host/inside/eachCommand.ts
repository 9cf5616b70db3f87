import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { WAIT_LIMIT } from '../../limits.ts';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

/**
 * Runs every command of the manifest like the palette does, and cancels every prompt.
 * @returns the commands that did not end, or that ended with an error that VS Code would show unchanged
 */
export async function runEachCommand(except: readonly string[] = []): Promise<readonly string[]> {
  const extension = vscode.extensions.getExtension('hosted-postgres.hosted-postgres');
  await extension?.activate();
  const manifest: Manifest = extension?.packageJSON;
  const problems: string[] = [];
  for (const { command } of manifest.contributes.commands) {
    if (except.includes(command)) continue;
    const problem = await runAndCancel(command);
    if (problem !== undefined) problems.push(`${command}: ${problem}`);
  }
  return problems;
}

async function runAndCancel(command: string): Promise<string | undefined> {
  let outcome: string | undefined;
  const ended = Promise.resolve(vscode.commands.executeCommand(command)).then(
    () => (outcome = 'ended'),
    (error: unknown) => (outcome = String(error)),
  );
  // No API reports that a prompt has opened, so close prompts again and again until the command ends.
  const deadline = Date.now() + WAIT_LIMIT;
  while (outcome === undefined && Date.now() < deadline) {
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    await Promise.race([ended, delay(20)]);
  }
  if (outcome === undefined) return 'did not end';
  return outcome === 'ended' ? undefined : outcome;
}
