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

/**
 * Variables in which agents name the session of what they start. A hook's input has the same id. What only inherits the variable, such as
 * an agent in the terminal of another, has another session.
 */
const SESSION_VARIABLES: Readonly<Record<string, string>> = {
  'claude-code': 'CLAUDE_CODE_SESSION_ID',
  'gemini-cli': 'GEMINI_SESSION_ID',
  'qwen-code': 'QWEN_CODE_SESSION_ID',
};

/** The hooks that Copilot CLI runs as well. It names no session. */
const HOOKS_FOR_COPILOT = ['VS Code', 'claude-code'];

/** @param configured the name in the command of the hook @returns that of the agent whose turn it is */
function agentOfTurn(configured: string, session: unknown): string {
  const known = Object.entries(SESSION_VARIABLES).find(([, name]) => process.env[name] === session);
  if (session !== undefined && known !== undefined) return known[0];
  const isCopilot = HOOKS_FOR_COPILOT.includes(configured) && (process.env['COPILOT_CLI'] ?? '') !== '';
  return isCopilot ? 'copilot-cli' : configured;
}

/** Marks the moment before a turn of an agent, so that Undo can return to it. @param agent the agent's name in the command of the hook */
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
  const session = input['session_id'] ?? input['sessionId'];
  const turn = turnOfPrompt(input, session);
  const call = { tool: 'markTurn', input: { turn }, agent: agentOfTurn(agent, session) };
  await callToolInWindow(call, signal).catch(() => undefined);
}

/** Returns what is the same in all hooks of a turn: the id of the prompt or turn, or else the time, in one of two formats. */
function turnOfPrompt(input: Readonly<Record<string, unknown>>, session: unknown): string | undefined {
  const { timestamp } = input;
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp;
  const id = input['prompt_id'] ?? input['turn_id'] ?? time;
  return session === undefined || id === undefined ? undefined : JSON.stringify([session, id]);
}
