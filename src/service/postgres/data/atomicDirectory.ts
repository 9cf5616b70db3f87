/** Creates a folder completely or not at all. */
import { EngineError } from '../../core/computeEngine.ts';
import { renameOverSync } from '../../../base/replaceFile.ts';
import { removeAll } from './privateFiles.ts';

/**
 * @param fill creates the folder under another name; then it is renamed
 * @throws what `fill` throws, after the unfinished folder was removed
 */
export async function createAtomically(
  folder: string,
  fill: (unfinished: string) => Promise<void>,
): Promise<void> {
  const unfinished = `${folder}.new`;
  // Left by a service that was killed.
  removeAll(unfinished);
  try {
    await fill(unfinished);
    renameOverSync(unfinished, folder);
  } catch (error) {
    removeAll(unfinished);
    throw error;
  }
}

/** @throws {EngineError} if the engine is being closed */
export function throwIfClosing(ending: AbortSignal | undefined): void {
  if (ending?.aborted === true) throw new EngineError('The service is stopping');
}
