/**
 * What agents run as a hook before each turn: it marks the moment, so that Undo can return to it. It must never disturb the agent, so
 * it prints nothing, which would become part of the prompt, and never fails.
 */
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fieldsOf } from '../base/fieldsOf.ts';
import { callToolInWindow } from './windows.ts';

/** The most milliseconds that a prompt waits. */
const MAX_WAIT = 3000;

/** Variables that agents set for what they start, by the names that hooks have. Copilot CLI runs hooks of others, too. */
const AGENT_VARIABLES: Readonly<Record<string, string>> = {
  'claude-code': 'CLAUDECODE',
  'gemini-cli': 'GEMINI_SESSION_ID',
  'qwen-code': 'QWEN_CODE_SESSION_ID',
  'copilot-cli': 'COPILOT_CLI',
};

/** @param configured the name in the command of the hook @returns that of the agent whose turn it is */
function agentOfTurn(configured: string): string {
  const isSet = (name: string) => (process.env[AGENT_VARIABLES[name] ?? ''] ?? '') !== '';
  if (isSet(configured)) return configured;
  return Object.keys(AGENT_VARIABLES).find(isSet) ?? configured;
}

/** Marks the moment before a turn of an agent, so that Undo can return to it. @param agent its name in the command of the hook */
export async function markTurn(agent: string): Promise<void> {
  const signal = AbortSignal.timeout(MAX_WAIT);
  let input: Readonly<Record<string, unknown>> = {};
  try {
    input = fieldsOf(JSON.parse(await text(addAbortSignal(signal, process.stdin))));
    if (typeof input['cwd'] === 'string') process.chdir(input['cwd']);
  } catch {
    // If the input names no folder, the hook stays in the folder in which the agent has started it.
  }
  // Qwen Code runs the hook again, without a prompt, after each round of tools.
  if (typeof input['prompt'] === 'string' && input['prompt'].trim() === '') return;
  const call = { tool: 'markTurn', input: { turn: turnOfPrompt(input) }, agent: agentOfTurn(agent) };
  await callToolInWindow(call, signal).catch(() => undefined);
}

/** Returns what is the same in all hooks of a turn: the id of the prompt or turn, or else the time, in one of two formats. */
function turnOfPrompt(input: Readonly<Record<string, unknown>>): string | undefined {
  const { session_id: session = input['sessionId'], timestamp } = input;
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp;
  const id = input['prompt_id'] ?? input['turn_id'] ?? time;
  return session === undefined || id === undefined ? undefined : JSON.stringify([session, id]);
}
