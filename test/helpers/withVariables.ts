/** Runs something with other environment variables. A copy in the place of `process.env` would not reach Node and programs. */
export async function withVariables(
  variables: Readonly<Record<string, string>>,
  run: () => unknown,
): Promise<void> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  Object.assign(process.env, variables);
  try {
    await run();
  } finally {
    for (const [name, value] of before) {
      // On Windows, Node keeps the last time zone when the variable is deleted.
      if (name === 'TZ') process.env[name] = timeZone;
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
