/**
 * What agents run as a hook before each turn: it marks the moment, so that Undo can return to it. It must never disturb the agent, so
 * it prints nothing, which would become part of the prompt, and never fails.
 */
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fieldsOf } from '../base/fieldsOf.ts';
import { callTool } from './windows.ts';

/** Milliseconds that a prompt waits at most. */
const LIMIT = 3000;

/** @param agent its name */
export async function markTurn(agent: string): Promise<void> {
  const signal = AbortSignal.timeout(LIMIT);
  try {
    const { cwd } = fieldsOf(JSON.parse(await text(addAbortSignal(signal, process.stdin))));
    if (typeof cwd === 'string') process.chdir(cwd);
  } catch {
    // If the input has no folder, it is the one that the agent runs this in.
  }
  await callTool({ tool: 'markTurn', input: {}, agent }, signal).catch(() => undefined);
}
