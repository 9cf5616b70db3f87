/** Runs something with other environment variables. A copy in the place of `process.env` would not reach Node and programs. */
export async function withVariables(
  variables: Readonly<Record<string, string>>,
  run: () => unknown,
): Promise<void> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, variables);
  try {
    await run();
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
}
