// The model that the clients of `run.ts` ask: on loopback, in the formats of four services. It calls the tools that its caller names, one a
// turn, and keeps what the client answers. Only the model is played: the clients and the MCP server are real.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fieldsOf } from '../../src/base/fieldsOf.ts';

export interface ToolCall {
  readonly tool: string;
  /** @param answers the answers to the calls before */
  readonly input: (answers: readonly string[]) => object;
}
export interface Model {
  readonly url: string;
  /** The definitions of our tools, as the client has sent them. */
  readonly offered: ReadonlyMap<string, Offered>;
  /** What the client has answered to each call, in their order. */
  readonly answers: readonly string[];
  stop(): void;
}
interface Offered {
  readonly name: string;
  readonly namespace?: string;
  readonly schema: unknown;
}
type Fields = Readonly<Record<string, unknown>>;
type Next = (Offered & { readonly input: object }) | undefined;
interface Format {
  readonly path: RegExp;
  readonly tools: (body: Fields) => readonly Offered[];
  readonly answers: (body: Fields) => readonly unknown[];
  /** The events of a reply, in whose last one no call is left, or its body if the client wants no stream. */
  readonly reply: (next: Next, id: string) => readonly Fields[];
}

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);
const DONE = 'Done.';

const FORMATS: readonly Format[] = [
  {
    path: /\/chat\/completions$/,
    tools: ({ tools }) =>
      listOf(tools).map((tool) => {
        const { name, parameters } = fieldsOf(tool['function']);
        return { name: String(name), schema: parameters };
      }),
    answers: ({ messages }) =>
      listOf(messages).flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
    reply(next, id) {
      const chunk = (delta: object, finish_reason: string | null) => ({
        id,
        object: 'chat.completion.chunk',
        created: 1,
        model: 'played',
        choices: [{ index: 0, delta, finish_reason }],
      });
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      if (next === undefined)
        return [chunk({ role: 'assistant', content: DONE }, null), { ...chunk({}, 'stop'), usage }];
      const { name, input } = next;
      const call = { index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
      return [chunk({ role: 'assistant', tool_calls: [call] }, null), { ...chunk({}, 'tool_calls'), usage }];
    },
  },
  {
    path: /\/responses$/,
    tools: ({ tools }) =>
      listOf(tools).flatMap(({ type, name, parameters, tools: inner }) =>
        type === 'namespace'
          ? listOf(inner).map((tool) => ({
              name: String(tool['name']),
              namespace: String(name),
              schema: tool['parameters'],
            }))
          : [{ name: String(name), schema: parameters }],
      ),
    answers: ({ input }) =>
      listOf(input).flatMap(({ type, output }) => (type === 'function_call_output' ? [output] : [])),
    reply(next, id) {
      const item =
        next === undefined
          ? { type: 'message', id, role: 'assistant', content: [{ type: 'output_text', text: DONE }] }
          : {
              type: 'function_call',
              id,
              call_id: id,
              name: next.name,
              namespace: next.namespace,
              arguments: JSON.stringify(next.input),
            };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      return [
        { type: 'response.created', response: { id } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response: { id, usage } },
      ];
    },
  },
  {
    path: /:(?:streamG|g)enerateContent$/,
    tools: ({ tools }) =>
      listOf(tools)
        .flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
        .map(({ name, parameters, parametersJsonSchema }) => ({
          name: String(name),
          schema: parametersJsonSchema ?? parameters,
        })),
    answers: ({ contents }) =>
      listOf(contents)
        .flatMap(({ parts }) => listOf(parts))
        .flatMap(({ functionResponse }) =>
          functionResponse === undefined ? [] : [fieldsOf(functionResponse)['response']],
        ),
    reply(next, id) {
      const part =
        next === undefined ? { text: DONE } : { functionCall: { id, name: next.name, args: next.input } };
      const content = { role: 'model', parts: [part] };
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
      return [{ candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata }];
    },
  },
  {
    path: /\/messages$/,
    tools: ({ tools }) =>
      listOf(tools).map(({ name, input_schema }) => ({ name: String(name), schema: input_schema })),
    answers: ({ messages }) =>
      listOf(messages)
        .flatMap(({ content }) => listOf(content))
        .flatMap(({ type, content }) => (type === 'tool_result' ? [content] : [])),
    reply(next, id) {
      const usage = { input_tokens: 1, output_tokens: 1 };
      const message = { id, type: 'message', role: 'assistant', model: 'played', content: [], usage };
      const [block, delta] =
        next === undefined
          ? [
              { type: 'text', text: '' },
              { type: 'text_delta', text: DONE },
            ]
          : [
              { type: 'tool_use', id: `toolu_${id}`, name: next.name, input: {} },
              { type: 'input_json_delta', partial_json: JSON.stringify(next.input) },
            ];
      const stop_reason = next === undefined ? 'end_turn' : 'tool_use';
      return [
        { type: 'message_start', message },
        { type: 'content_block_start', index: 0, content_block: block },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
        { type: 'message_stop' },
      ];
    },
  },
];

/** Starts a model that makes `calls`. */
export async function startModel(calls: readonly ToolCall[]): Promise<Model> {
  const offered = new Map<string, Offered>();
  let answers: readonly string[] = [];
  let count = 0;
  const reply = (format: Format, body: Fields): readonly Fields[] => {
    for (const tool of format.tools(body)) {
      const own = /[a-z]+$/i.exec(tool.name)?.[0] ?? '';
      if (calls.some((call) => call.tool === own)) offered.set(own, tool);
    }
    const got = format.answers(body).map((answer) => JSON.stringify(answer));
    if (got.length > answers.length) answers = got;
    // Clients also ask for a title, or for the next step, without tools.
    const call = format.tools(body).length > 0 ? calls[got.length] : undefined;
    const definition = call && offered.get(call.tool);
    count += 1;
    const next = call && definition && { ...definition, input: call.input(got) };
    return format.reply(next, `call${count}`);
  };
  const server = createServer((request, response) => void answer(request, response, reply));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    offered,
    get answers() {
      return answers;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  reply: (format: Format, body: Fields) => readonly Fields[],
): Promise<void> {
  let text = '';
  for await (const part of request) text += String(part);
  const { pathname } = new URL(request.url ?? '', 'http://model');
  const format = FORMATS.find(({ path }) => path.test(pathname));
  if (format === undefined) {
    response.writeHead(404).end('{}');
    return;
  }
  const body = fieldsOf(JSON.parse(text));
  const events = reply(format, body);
  if (body['stream'] === false || pathname.endsWith(':generateContent')) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(events.at(-1)));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const type = event['type'];
    if (typeof type === 'string') response.write(`event: ${type}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(pathname.endsWith('completions') ? 'data: [DONE]\n\n' : '');
}
