/** Chooses the engine. Real Postgres is loaded only when it is used. */
import type { ComputeEngine } from './core/computeEngine.ts';
import type { EngineChoice } from './postgres/engine.ts';
import { SimulatedEngine } from './postgres/withoutPostgres.ts';

export async function loadEngine(choice: EngineChoice & { postgres: boolean }): Promise<ComputeEngine> {
  if (!choice.postgres) return new SimulatedEngine();
  if (process.getuid?.() === 0) {
    const { startEngineProcess } = await import('./engineProcess/startEngineProcess.ts');
    return startEngineProcess(choice);
  }
  const { createLocalEngine } = await import('./postgres/engine.ts');
  return createLocalEngine(choice);
}
