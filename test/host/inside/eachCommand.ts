import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

/**
 * Runs every command that the manifest declares, as the palette does, and backs out of whatever it asks.
 * @returns those that did not end, or ended in an error that VS Code would show raw
 */
export async function runEachCommand(except: readonly string[] = []): Promise<readonly string[]> {
  const extension = vscode.extensions.getExtension('hosted-postgres.hosted-postgres');
  await extension?.activate();
  const manifest: Manifest = extension?.packageJSON;
  const wrong: string[] = [];
  for (const { command } of manifest.contributes.commands) {
    if (except.includes(command)) continue;
    const problem = await runAndBackOut(command);
    if (problem !== undefined) wrong.push(`${command}: ${problem}`);
  }
  return wrong;
}

async function runAndBackOut(command: string): Promise<string | undefined> {
  let outcome: string | undefined;
  const ended = Promise.resolve(vscode.commands.executeCommand(command)).then(
    () => (outcome = 'ended'),
    (error: unknown) => (outcome = String(error)),
  );
  for (let tries = 0; tries < 100 && outcome === undefined; tries += 1) {
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    // The question may not be on screen yet: it is closed again until the command has ended.
    await Promise.race([ended, delay(20)]);
  }
  if (outcome === undefined) return 'did not end';
  return outcome === 'ended' ? undefined : outcome;
}
