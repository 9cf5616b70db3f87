/** Errors for folders and files whose order or parts would be a guess. */
import path from 'node:path';

/** @param command what to do instead; by default, the commands of the tools that the project uses */
export type CreateRefusal = (where: string, reason: string, command?: string) => Error;

/** Makes errors that show how to run the migrations with a tool instead. */
export const createRefusalFactory =
  (given: string, shown: readonly string[]): CreateRefusal =>
  (where, reason, command) => {
    const commands = command === undefined ? shown : [command];
    const examples = (commands.length === 0 ? ['npm run migrate'] : commands).map(
      (run) => `{ run: '${run}', files: ['${path.basename(given)}'] }`,
    );
    return new Error(
      `${where} ${reason}. Give a .sql file, a folder of them, or your tool's command, such as ${examples.join(' or ')}.`,
    );
  };
