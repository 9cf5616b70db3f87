// `npm run test:desktop`: downloads a desktop VS Code and runs the suites of test/host/inside in it.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { fetchDesktop } from '../workbench/desktop.ts';
import { projectRoot } from '../workbench/folders.ts';

const executable = await fetchDesktop().catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`Couldn't download VS Code, so no tests ran: ${reason}`);
  console.error('`npm run test:host` runs the same suites in a VS Code from the npm registry.');
  process.exit(1);
});

// The name is short because the paths of VS Code's sockets below it are close to the length limit of macOS.
const home = await mkdtemp(path.join(os.tmpdir(), 'hpg-'));
try {
  process.exitCode = await runTests({
    vscodeExecutablePath: executable,
    extensionDevelopmentPath: projectRoot,
    extensionTestsPath: path.join(projectRoot, 'dist', 'test', 'index.js'),
    launchArgs: [
      `--user-data-dir=${path.join(home, 'data')}`,
      '--disable-extensions',
      '--disable-workspace-trust',
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
} finally {
  await rm(home, { recursive: true, force: true });
}
