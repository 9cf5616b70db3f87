import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
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

  it('loads only dist/extension.js on activation, and all other bundles on first use', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    await extension?.activate();
    const dist = path.join(extension?.extensionPath ?? '', 'dist');
    const loaded = Object.keys(createRequire(path.join(dist, 'any.js')).cache);
    const bundles = loaded.filter((file) => path.dirname(file) === dist).map((file) => path.basename(file));
    assert.deepEqual(bundles, ['extension.js']);
    const wiring = await readFile(path.join(dist, 'extension.js'), 'utf8');
    assert.doesNotMatch(wiring, /ZodMini/);
    assert.match(await readFile(path.join(dist, 'startService.js'), 'utf8'), /ZodMini/);
  });

  it('registers every command of its manifest', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    await extension?.activate();
    const manifest: Manifest = extension?.packageJSON;
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = manifest.contributes.commands.filter(({ command }) => !registered.has(command));
    assert.deepEqual(missing, []);
    assert.notEqual(manifest.contributes.commands.length, 0);
  });
});
