/** Chooses the engine. Each is loaded only when it is used. */
import type { ComputeEngine } from './core/computeEngine.ts';
import type { EngineChoice } from './postgres/engine.ts';

/** @returns a function that starts the engine. It loads no more code, so the engine's process starts at once */
export async function loadEngine(
  choice: EngineChoice & { postgres: boolean },
): Promise<() => Promise<ComputeEngine>> {
  if (!choice.postgres) {
    const { SimulatedEngine } = await import('./postgres/withoutPostgres.ts');
    return async () => new SimulatedEngine();
  }
  if (process.getuid?.() === 0) {
    const { startEngineProcess } = await import('./engineProcess/startEngineProcess.ts');
    return () => startEngineProcess(choice);
  }
  const { createLocalEngine } = await import('./postgres/engine.ts');
  return async () => createLocalEngine(choice);
}
