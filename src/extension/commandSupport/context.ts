/** What every command receives: the model, and the parts of the UI that commands use. */
import type { Uri } from 'vscode';
import type { AccountConnection } from '../account/accountConnection.ts';
import type { LaunchCommand } from '../agents/launcher.ts';
import type { WindowModel } from '../windowModel.ts';
import type { WorkFolders } from '../gitBranch/ui/workFolders.ts';
import type { DatabaseParentNode } from '../inventory/databaseNodes.ts';
import type { ResourceRef } from '../account/refs.ts';

interface Selection {
  readonly selection: readonly unknown[];
}

/** The part of the Computes view that commands use. */
export interface ComputesView {
  readonly expandedProjects: ReadonlySet<string>;
  readonly view: Selection & { readonly visible: boolean };
  readonly emptyRows: { shown(): Promise<void> };
  reveal(resource: ResourceRef): Promise<void>;
  revealFirst(): Promise<void>;
  showMore(): void;
  reload(parent: DatabaseParentNode): void;
  redraw(): void;
}

export interface CommandContext extends WindowModel {
  readonly workFolders: WorkFolders;
  /** Lets agents call the tools. `enable` returns the program that their configuration starts. */
  readonly agentBridge: () => Promise<{ enable(): Promise<LaunchCommand> }>;
  readonly computesView: ComputesView;
  /** Fires with the URI of a document that is to be read again. */
  readonly documents: Readonly<Record<'detailsChanged' | 'operationsChanged', { fire(uri: Uri): void }>>;
  readonly apiKeysView: {
    readonly view: Selection & { readonly visible: boolean };
    reveal(keyId: number): Promise<void>;
  };
}

/** One run of a command, which says how a failure is shown. */
export interface CommandRun {
  /** The title of the message if the command fails, such as “Couldn't restart ep-…”. The command sets it. */
  failureMessage: string;
  /** The connection when the command began. Changes are sent only to its account. */
  readonly initialConnection: AccountConnection | undefined;
  /** The advice if the reply to a change was lost; by default, to check the list. */
  unknownOutcome?: string;
}

/**
 * @param argument not validated; from VS Code, a keybinding or another extension
 * @returns the value to substitute, if the command is one for `${input:…}` in tasks.json and launch.json
 */
export type Command = (
  context: CommandContext,
  argument: unknown,
  run: CommandRun,
) => Promise<string | undefined | void> | void;
