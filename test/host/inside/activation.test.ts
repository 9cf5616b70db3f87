import assert from 'node:assert/strict';
import * as vscode from 'vscode';

const extensionId = 'hosted-postgres.hosted-postgres';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

describe('the extension', () => {
  it('activates', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    assert.ok(extension, `${extensionId} is not installed`);
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('registers every command that its manifest names', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    await extension?.activate();
    const manifest: Manifest = extension?.packageJSON;
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = manifest.contributes.commands.filter(({ command }) => !registered.has(command));
    assert.deepEqual(missing, []);
    assert.notEqual(manifest.contributes.commands.length, 0);
  });
});
