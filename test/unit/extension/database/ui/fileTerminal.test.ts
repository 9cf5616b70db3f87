import '../../../../helpers/vscodeValues.ts';
import assert from 'node:assert/strict';
import type { StopSignals } from '../../../../../src/extension/database/sql/runFile.ts';

const { SqlFileTerminal } = await import('../../../../../src/extension/database/ui/fileTerminal.ts');

/** A terminal whose file prints and ends when the test says so. */
function openTerminal() {
  const ended = Promise.withResolvers<string>();
  const run = Promise.withResolvers<{ write: (text: string) => void; stop: StopSignals }>();
  const terminal = new SqlFileTerminal(async (write, stop) => (run.resolve({ write, stop }), ended.promise));
  const state = { shown: '', closed: 0 };
  terminal.onDidWrite((text) => (state.shown += text));
  terminal.onDidClose(() => (state.closed += 1));
  terminal.open();
  const end = async (last: string) => {
    ended.resolve(last);
    await ended.promise;
    // The terminal's own reaction.
    await Promise.resolve();
  };
  return { terminal, state, run: run.promise, end };
}

describe('SqlFileTerminal', () => {
  it('shows output with the line ends of a terminal, and control characters as text', async () => {
    const { state, run } = openTerminal();
    (await run).write('a\tb\nc\r\n\u001b]52;c;eA==\u0007\u009b2J\u007f');
    assert.equal(state.shown, 'a\tb\r\nc\r\n␛]52;c;eA==␇\ufffd2J\ufffd');
  });

  it('cancels at Ctrl+C, kills at the second one, and ignores other keys', async () => {
    const { terminal, run } = openTerminal();
    const { stop } = await run;
    terminal.handleInput('x');
    assert.deepEqual([stop.signal.aborted, stop.kill.aborted], [false, false]);
    terminal.handleInput('\u0003');
    assert.deepEqual([stop.signal.aborted, stop.kill.aborted], [true, false]);
    terminal.handleInput('\u0003');
    assert.equal(stop.kill.aborted, true);
  });

  it('cancels when it is closed', async () => {
    const { terminal, run } = openTerminal();
    terminal.close();
    assert.equal((await run).stop.signal.aborted, true);
  });

  it('stays open at the end until a key is pressed', async () => {
    const { terminal, state, end } = openTerminal();
    terminal.handleInput('x');
    assert.equal(state.closed, 0);
    await end('Ran a.sql');
    assert.match(state.shown, /Ran a\.sql\r\nPress any key/);
    terminal.handleInput('x');
    assert.equal(state.closed, 1);
  });

  it('leaves out the rest of an endless output', async () => {
    const { state, run } = openTerminal();
    const { write } = await run;
    for (let count = 0; count < 20; count += 1) write('x'.repeat(1_000_000));
    assert.ok(state.shown.length < 6_000_000);
    assert.match(state.shown, /The rest of the output is left out\.\r\n$/);
  });
});
