/**
 * A stub of the module `vscode` for unit tests: classes that only hold values. Import this first, then the tested
 * module with `await import(…)`.
 */
import { BACK_BUTTON, FakeQuickPick } from './fakeQuickPick.ts';
import { readFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import path from 'node:path';
import type { Uri } from 'vscode';
import { Emitter } from '../../src/base/event.ts';

/** A class whose constructor stores its arguments under these names. */
const holder = (...fields: readonly string[]) =>
  class {
    constructor(...args: readonly unknown[]) {
      Object.assign(this, Object.fromEntries(fields.map((field, index) => [field, args[index]])));
    }
  };

class TreeItem {
  readonly label: string;
  readonly collapsibleState: number;
  constructor(label: string, collapsibleState = 0) {
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

const l10n = {
  t: (message: string, ...values: unknown[]) =>
    message.replace(/\{(\d+)\}/g, (_, index: string) => String(values[Number(index)])),
};

/** Lines written to output channels. */
export const outputLines: string[] = [];
const write = (line: string) => void outputLines.push(line);
const channel = { info: write, warn: write, error: write, dispose: () => undefined };

/** The next answers of the user to input boxes and modal messages. Without one, the user cancels. */
export const answers: (string | undefined | Promise<string | undefined>)[] = [];
/** What the user was asked. */
export const questions: string[] = [];
/** The modal messages and input boxes, which took the keyboard focus. */
export const dialogs: string[] = [];
const askInDialog = (question: string) => (dialogs.push(question), ask(question));
const ask = async (question: string) => {
  questions.push(question);
  return answers.shift();
};

/** Whether the window has the focus, and the listeners for it. */
export const focus = { has: true, listeners: new Set<() => void>() };

/** The user declines without an answer. */
const openExternal = async () => (await ask('Open the link?')) !== undefined;

export { FakeQuickPick, quickPicks } from './fakeQuickPick.ts';

interface FakeTerminal {
  readonly shellPath?: string;
  readonly shellArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string | null>>;
}

type TerminalListener = (closed: FakeTerminal | undefined) => void;

/** Terminals that were opened, with their options, and the listeners for their end. */
export const fakeTerminals = {
  opened: new Array<FakeTerminal>(),
  listeners: new Set<TerminalListener>(),
  close(terminal: FakeTerminal | undefined) {
    for (const listener of this.listeners) listener(terminal);
  },
};

/** Texts of the visible items, by id. As in VS Code, items with the same id are one entry. */
export const statusBarItems = new Map<string, string>();
/** Their tooltips as Markdown. */
export const statusBarTooltips = new Map<string, string | undefined>();

/** Options, and buttons as texts or as objects. */
type MessagePart = string | { readonly modal?: boolean; readonly detail?: string; readonly title?: string };

/** As in VS Code, a message without buttons ends only when the user clears it. No user does here. */
const showMessage = (message: string, ...parts: readonly MessagePart[]) => {
  const answer = showButtons(message, ...parts);
  return parts.length === 0 ? new Promise<undefined>(() => undefined) : answer;
};

const showButtons = async (message: string, ...parts: readonly MessagePart[]) => {
  const details = parts.map((part) => (typeof part === 'object' ? part.detail : undefined));
  const isModal = parts.some((part) => typeof part === 'object' && part.modal === true);
  const show = isModal ? askInDialog : ask;
  const answer = await show(`${message} ${details.find((detail) => detail !== undefined) ?? ''}`.trim());
  return parts.find((part) => (typeof part === 'object' ? part.title : part) === answer);
};

/** The tabs of the window. */
export const openTabs: { readonly label: string; readonly input: unknown }[] = [];

const window = {
  tabGroups: { all: [{ tabs: openTabs }] },
  createStatusBarItem: (id: string) => ({
    text: '',
    tooltip: undefined as { readonly value: string } | undefined,
    show() {
      statusBarItems.set(id, this.text);
      statusBarTooltips.set(id, this.tooltip?.value);
    },
    hide: () => void statusBarItems.delete(id),
    dispose: () => void statusBarItems.delete(id),
  }),
  createTerminal(options: FakeTerminal) {
    const terminal = { show: () => undefined, ...options };
    fakeTerminals.opened.push(terminal);
    return terminal;
  },
  get terminals() {
    return fakeTerminals.opened;
  },
  onDidCloseTerminal(listener: TerminalListener) {
    fakeTerminals.listeners.add(listener);
    return { dispose: () => fakeTerminals.listeners.delete(listener) };
  },
  createQuickPick: () => new FakeQuickPick(),
  createInputBox: () => new FakeQuickPick(),
  createOutputChannel: () => channel,
  registerFileDecorationProvider: () => ({ dispose: () => undefined }),
  withProgress: (_options: unknown, task: () => Promise<unknown>) => task(),
  showInformationMessage: (message: string, ...parts: readonly MessagePart[]) =>
    parts.length === 0 ? showMessage(message) : ask(message),
  showInputBox: ({ title = '', prompt = '' }) => askInDialog(`${title} ${prompt}`),
  showErrorMessage: showMessage,
  showWarningMessage: showMessage,
  get state() {
    return { focused: focus.has };
  },
  onDidChangeWindowState(listener: () => void) {
    focus.listeners.add(listener);
    return { dispose: () => focus.listeners.delete(listener) };
  },
};

/** Commands that were executed, with their arguments. */
export const executed: unknown[][] = [];
const commands = {
  executeCommand: async (...command: unknown[]) => void executed.push(command),
};

/** The user's settings, by section and name. */
export const settings = new Map<string, unknown>();
const getConfiguration = (section: string) => ({
  get: (name: string) => settings.get(`${section}.${name}`),
  update: async (name: string, value: unknown) => void settings.set(`${section}.${name}`, value),
});

const file = (fsPath: string) => ({ scheme: 'file', fsPath });

/** Texts that were copied. */
export const copied: string[] = [];

/** What was registered for agents, by id. */
export const forAgents = new Map<string, unknown>();
const register = (id: string, provider: unknown) => {
  forAgents.set(id, provider);
  return { dispose: () => forAgents.delete(id) };
};
/** Editors may lack both. */
export const lm: Partial<Record<'registerTool' | 'registerMcpServerDefinitionProvider', typeof register>> = {
  registerTool: register,
  registerMcpServerDefinitionProvider: register,
};

/** The MCP servers that Cursor knows. */
export const cursorServers: unknown[] = [];

const values = {
  commands,
  debug: {},
  tasks: { taskExecutions: [] },
  CompletionItem: holder('label', 'kind'),
  CompletionItemKind: { Text: 0, Value: 11 },
  ConfigurationTarget: { Global: 1 },
  window,
  l10n,
  Diagnostic: holder('range', 'message', 'severity'),
  DiagnosticSeverity: { Error: 0, Warning: 1 },
  DataTransferItem: holder('value'),
  EventEmitter: Emitter,
  env: {
    language: 'en',
    uiKind: 1,
    uriScheme: 'vscode',
    openExternal,
    clipboard: { writeText: async (text: string) => void copied.push(text) },
  },
  lm,
  ExtensionKind: { UI: 1, Workspace: 2 },
  extensions: { getExtension: () => undefined },
  FileDecoration: holder('badge', 'tooltip', 'color'),
  Hover: holder('contents', 'range'),
  FileSystemError: class extends Error {},
  LanguageModelTextPart: holder('value'),
  LanguageModelToolResult: holder('content'),
  MarkdownString: holder('value'),
  ProgressLocation: { Window: 10, Notification: 15 },
  QuickInputButtons: { Back: BACK_BUTTON },
  QuickPickItemKind: { Separator: -1, Default: 0 },
  Range: holder('start', 'end'),
  Selection: holder('anchor', 'active'),
  SnippetString: class {},
  StatusBarAlignment: { Left: 1, Right: 2 },
  TabInputText: holder('uri'),
  TabInputTextDiff: holder('original', 'modified'),
  ViewColumn: { Active: -1, Beside: -2 },
  TextEdit: {},
  ThemeColor: holder('id'),
  ThemeIcon: holder('id', 'color'),
  TreeItem,
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  UIKind: { Desktop: 1, Web: 2 },
  McpStdioServerDefinition: holder('label', 'command', 'args', 'env', 'version'),
  // Only Cursor has it.
  cursor: { mcp: { registerServer: (server: unknown) => cursorServers.push(server) } },
  Uri: {
    from: (parts: object) => parts,
    file,
    parse: (text: string) => ({ toString: () => text }),
    joinPath: ({ fsPath }: Uri, ...parts: string[]) => file(path.join(fsPath, ...parts)),
  },
  workspace: {
    getConfiguration,
    isTrusted: true,
    asRelativePath: ({ fsPath }: Uri) => path.basename(fsPath),
    onDidChangeWorkspaceFolders: () => ({ dispose: () => undefined }),
    fs: { readFile: (uri: Uri) => readFile(uri.fsPath) },
  },
};

const KEY = Symbol.for('hosted-postgres.test.vscode');
Object.assign(globalThis, { [KEY]: values });

const source = `export const { ${Object.keys(values).join(', ')} } = globalThis[Symbol.for('hosted-postgres.test.vscode')];`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vscode' ? { url: 'test:vscode', shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url === 'test:vscode' ? { format: 'module', source, shortCircuit: true } : next(url, context),
});
