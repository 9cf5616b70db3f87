import { readUserFile, type FileProblem } from '../../base/files.ts';
import type { Facts } from './decide.ts';
import { getVariable } from '../envFile/dotEnv.ts';

/** A variable of an env file. */
export interface ReadVariable {
  /** The path of the file, with links resolved if it can be used. */
  readonly path: string;
  /** A secret. Undefined if the file can't be used or doesn't have the variable. */
  readonly value: string | undefined;
  readonly problem?: FileProblem | undefined;
}

/** The variable of the file that follows git. */
export interface EnvValue extends Omit<ReadVariable, 'problem'> {
  readonly file: Facts['file'];
}

/** @param folders the file must be in one of them, with links resolved. Never rejects */
export async function readVariable(
  file: string,
  name: string,
  folders: readonly string[],
): Promise<ReadVariable> {
  const { path, bytes, problem } = await readUserFile(file, folders);
  return { path, value: bytes && getVariable(bytes.toString(), name), problem };
}
