import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { processTree } from '../../workbench/processes.ts';
import { findOwnService } from './ownService.ts';
import { useWorkbench } from './useWorkbench.ts';

/** Listens on a free port and prints it. */
const PROGRAM =
  "const s = require('node:net').createServer(); s.listen(0, '127.0.0.1', () => console.log(s.address().port))";

describe('the Ports view of a remote window', () => {
  const settings = {
    'remote.autoForwardPorts': true,
    // Other programs of the machine may have any number of ports.
    'remote.autoForwardPortsFallback': 0,
    // A user's own attributes are added to those of the extension.
    'remote.portsAttributes': { 3000: { label: 'Shop' } },
  };
  const ui = useWorkbench({ settings });
  let program: ChildProcess | undefined;

  before(function () {
    // On other systems, VS Code looks for ports in the output of terminals.
    if (process.platform !== 'linux') this.skip();
  });
  after(() => program?.kill());

  it("lists a user's program, but not the local service and its computes", async () => {
    await ui().openView('Hosted Postgres');
    await ui().clickWelcome('Computes', 'Try it with the local service');
    await ui().computes.waitForFirstProject();
    await ui().computes.expandProject('shop');
    await ui().computes.waitFor(/^Compute primary, active, .*ep-little-smoke-851426$/);
    const service = await findOwnService(ui().dataFolder);
    program = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = await once(program.stdout ?? program, 'data');

    await ui().runCommand('Ports: Focus on Ports View');
    // Only visible rows are in the page, and other programs of the machine may have dozens of ports.
    await ui().page.setViewportSize({ width: 1280, height: 6000 });
    await ui().runCommand('View: Toggle Maximized Panel');
    const listed = ui().page.locator('.part.panel .monaco-table .monaco-list-row');
    // Between two looks, VS Code waits 20 times as long as a look takes.
    await listed.filter({ hasText: String(port).trim() }).waitFor();
    const rows = await listed.allInnerTexts();
    // VS Code finds all ports of the machine at once, and names the process of each.
    const tree = await processTree([service.pid]);
    assert.ok(tree.length > 1);
    assert.deepEqual(
      rows.filter((row) => tree.some((pid) => row.includes(`(${pid})`))),
      [],
    );
  });
});
