import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Session } from 'node:inspector';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';

const extensionId = 'hosted-postgres.hosted-postgres';

/** The part of esbuild's metafile that is used here. */
interface Meta {
  readonly outputs: Readonly<Record<string, { readonly imports: readonly { path: string; kind: string }[] }>>;
}

/** Returns the addresses of all scripts that this process has loaded. */
function loadedScripts(): readonly string[] {
  const debuggerSession = new Session();
  const urls: string[] = [];
  debuggerSession.connect();
  debuggerSession.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
  debuggerSession.post('Debugger.enable');
  debuggerSession.disconnect();
  return urls;
}

describe('the extension', () => {
  it('activates', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    assert.ok(extension, `${extensionId} is not installed`);
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('loads only dist/extension.js and the chunks that it imports on activation', async () => {
    const extension = vscode.extensions.getExtension(extensionId);
    await extension?.activate();
    const dist = path.join(extension?.extensionPath ?? '', 'dist');
    const { outputs }: Meta = JSON.parse(await readFile(path.join(dist, 'meta.json'), 'utf8'));
    const imported = new Set(['dist/extension.js']);
    for (const file of imported)
      for (const { path: chunk, kind } of outputs[file]?.imports ?? [])
        if (kind === 'import-statement' && chunk !== 'vscode' && !isBuiltin(chunk)) imported.add(chunk);
    const loaded = loadedScripts().filter((url) => url.startsWith(`${pathToFileURL(dist).href}/`));
    const names = loaded
      .map((url) => `dist/${path.basename(url)}`)
      .filter((name) => name !== 'dist/index.js');
    assert.deepEqual(names.toSorted(), [...imported].toSorted());
  });
});
