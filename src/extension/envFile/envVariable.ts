import type { FileProblem } from '../../base/files.ts';
import type { VariableChange } from './dotEnv.ts';

/** A variable as it was read, or why its file can't be used. */
export interface ReadVariable {
  /** The path of the file, with links resolved if it can be used. */
  readonly path: string;
  /** A secret. Undefined if the file can't be used or doesn't have the variable. */
  readonly value: string | undefined;
  readonly problem?: FileProblem | undefined;
}

/** The variable of the file that follows git. */
export interface EnvValue extends Omit<ReadVariable, 'problem'> {
  /** Whether the value can be replaced, and why not. `none` means that the file or the variable is missing. */
  readonly file: 'writable' | 'none' | 'unsaved' | FileProblem;
  /** The whole file, with its secrets. */
  readonly text: string;
}

/** A change that was made to the file, and how to undo it. */
export interface EnvChange {
  /** Writes the earlier values again. @throws {Error} if the file has changed since */
  readonly undo: () => Promise<void>;
}

/** The variable with a folder's connection string, in its env file. */
export interface EnvVariable {
  /** The path of the file in the folder. */
  readonly file: string;
  readonly name: string;
  /** Whether the user trusts the workspace. The folder of a stranger may be made to harm programs that read it. */
  readonly isTrusted: boolean;
  /** Reads the variable. Never rejects. */
  read(): Promise<EnvValue>;
  /** Returns the variable of another folder. Never rejects. @param folders the file must be in one of them, with links resolved */
  readIn(folder: string, folders: readonly string[]): Promise<ReadVariable>;
  /** Replaces values. @returns undefined if a value has changed since. @throws {Error} for example in an untrusted workspace */
  replace(changes: readonly [VariableChange, ...VariableChange[]]): Promise<EnvChange | undefined>;
}
