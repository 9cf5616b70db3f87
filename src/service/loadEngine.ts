/** Picks the engine. Real Postgres is loaded late, so that it costs nothing where it is not wanted. */
import type { ComputeEngine } from './core/computeEngine.ts';
import { createStatesOnlyEngine } from './noPostgres.ts';
import type { EngineChoice } from './postgres/localEngine.ts';

export async function loadEngine(choice: EngineChoice & { postgres: boolean }): Promise<ComputeEngine> {
  if (!choice.postgres) return createStatesOnlyEngine();
  if (process.getuid?.() === 0) {
    const { startEngineProcess } = await import('./engineProcess/startEngineProcess.ts');
    return startEngineProcess(choice);
  }
  const { createLocalEngine } = await import('./postgres/localEngine.ts');
  return createLocalEngine(choice);
}
