/**
 * Returns the environment of a service. VS Code's executable runs as Node, without VS Code's variables. NODE_OPTIONS is for the
 * program that starts the service: a debugger that it names would wait in the service, and Yarn's PnP would replace its file
 * system.
 */
export function serviceEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(VSCODE_|ELECTRON_|NODE_OPTIONS$|HOSTED_POSTGRES_)/i.test(name),
  );
  return { ...Object.fromEntries(kept), ELECTRON_RUN_AS_NODE: '1' };
}
