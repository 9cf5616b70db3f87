/** Extensions with the ids and commands of SQL clients, which record what they receive. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { temporaryFolder } from './localService.ts';

interface SqlClients {
  /** To install. */
  readonly folders: readonly string[];
  /** Calls of their commands and links to them, as the name and the values. */
  received(): Promise<readonly (readonly [string, unknown])[]>;
}

const CLIENTS = [
  { publisher: 'ms-ossdata', name: 'vscode-pgsql', command: 'pgsql.unused' },
  { publisher: 'mtxr', name: 'sqltools', command: 'sqltools.addConnection' },
  { publisher: 'cweijan', name: 'vscode-postgresql-client2', command: 'postgresql.connection.add' },
];

let clients: SqlClients | undefined;

/** Returns the same extensions to all suites of a process, because these share a window. */
export const sqlClients = (): SqlClients => (clients ??= writeSqlClients(temporaryFolder()));

function writeSqlClients(folder: string): SqlClients {
  const log = path.join(folder, 'received.jsonl');
  const folders = CLIENTS.map(({ publisher, name, command }) => {
    const extension = path.join(folder, `${publisher}.${name}-1.0.0`);
    mkdirSync(extension, { recursive: true });
    const manifest = {
      publisher,
      name,
      displayName: name,
      version: '1.0.0',
      engines: { vscode: '^1.100.0' },
      main: './extension.cjs',
      activationEvents: [`onCommand:${command}`, 'onUri'],
    };
    writeFileSync(path.join(extension, 'package.json'), JSON.stringify(manifest));
    writeFileSync(path.join(extension, 'extension.cjs'), codeFor(command, log));
    return extension;
  });
  return {
    folders,
    async received() {
      const text = await readFile(log, 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line): readonly [string, unknown] => JSON.parse(line));
    },
  };
}

const codeFor = (command: string, log: string): string => `
const { commands, window } = require('vscode');
const { appendFileSync } = require('node:fs');
const record = (...values) => appendFileSync(${JSON.stringify(log)}, JSON.stringify(values) + '\\n');
exports.activate = ({ subscriptions }) => {
  subscriptions.push(
    commands.registerCommand(${JSON.stringify(command)}, (...values) => record(${JSON.stringify(command)}, values)),
    window.registerUriHandler({ handleUri: ({ path, query }) => record(path, query) }),
  );
};
`;
