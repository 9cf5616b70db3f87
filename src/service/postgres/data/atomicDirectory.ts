/** Folders that are there whole or not at all, however their making ends. */
import { renameSync, rmSync } from 'node:fs';
import { EngineError } from '../../core/computeEngine.ts';

/**
 * @param make fills another folder, which then takes the name
 * @throws what `make` throws, after its folder was removed
 */
export async function createAtomically(
  folder: string,
  make: (making: string) => Promise<void>,
): Promise<void> {
  const making = `${folder}.new`;
  // Of a service that was killed meanwhile.
  rmSync(making, { recursive: true, force: true });
  try {
    await make(making);
    renameSync(making, folder);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    throw error;
  }
}

/** @param ending aborted when the engine is closed @throws {EngineError} then */
export function throwIfClosing(ending: AbortSignal | undefined): void {
  if (ending?.aborted === true) throw new EngineError('The service is ending');
}
