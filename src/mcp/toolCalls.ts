/** Calls of tools, as clients of MCP send them and show their results. */
import { fieldsOf } from '../base/fieldsOf.ts';
import { CallOrder } from '../extension/agents/callOrder.ts';
import { outputText } from '../extension/agents/outputText.ts';
import { withoutClientArguments } from './clientArguments.ts';
import { callToolInWindow } from './windows.ts';

const order = new CallOrder();

interface Params {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Answers a call of a client. Some clients show the model only the text, and others only the structure, so both have all, also why
 * a call failed.
 */
export async function answerToolCall(
  { name, arguments: given = {} }: Params,
  client: unknown,
  signal: AbortSignal,
) {
  const { name: clientName } = fieldsOf(client);
  const agent = typeof clientName === 'string' ? clientName : '';
  const input = withoutClientArguments(agent, given);
  try {
    const call = () => callToolInWindow({ tool: name, input, agent }, signal);
    const structuredContent = await order.run(name, input, signal, call);
    const text = outputText(structuredContent);
    return { content: [{ type: 'text' as const, text }], structuredContent };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return { content: [{ type: 'text' as const, text }], structuredContent: { error: text }, isError: true };
  }
}
