/** Creates a folder completely or not at all. */
import { renameSync, rmSync } from 'node:fs';
import { EngineError } from '../../core/computeEngine.ts';

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
  rmSync(unfinished, { recursive: true, force: true });
  try {
    await fill(unfinished);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
}

/** @throws {EngineError} if the engine is being closed */
export function throwIfClosing(ending: AbortSignal | undefined): void {
  if (ending?.aborted === true) throw new EngineError('The service is stopping');
}
