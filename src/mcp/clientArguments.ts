/**
 * Arguments that a client adds to those of the model, by the name that the client gives itself. Without them, tools would have to
 * accept unknown arguments, and so misspelled ones.
 */
const ADDED: ReadonlyMap<string, readonly string[]> = new Map([
  // Gemini CLI 0.61 adds this argument to the schema of each tool, waits by itself, and passes the argument on.
  ['gemini-cli-mcp-client', ['wait_for_previous']],
]);

/** Removes the arguments that the client has added. @param client the client's name in the request */
export function withoutClientArguments(
  client: string,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const added = ADDED.get(client);
  if (added === undefined) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !added.includes(name)));
}
