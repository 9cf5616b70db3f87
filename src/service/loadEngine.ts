/** Chooses the engine. Loads real Postgres only if it is used. */
import { EngineError, type ComputeEngine } from './core/computeEngine.ts';
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

const FIRST_PORT = 2_000;
const LAST_PORT = 65_534;

/** The engine of `--no-postgres`: computes change their state without processes or open ports. */
export function createStatesOnlyEngine(): ComputeEngine {
  let next = 15_432;
  return {
    pgVersion: undefined,
    pooler: { available: true },
    open: () => Promise.resolve(),
    /** Returns ports in turn; the caller skips those of other computes. */
    allocateAddress() {
      const port = next;
      next = port + 2 > LAST_PORT ? FIRST_PORT : port + 2;
      return Promise.resolve({ port, poolerPort: port + 1 });
    },
    attach: () => Promise.resolve(),
    start: () => Promise.resolve(),
    suspend: () => Promise.resolve(),
    applyConfig: () => Promise.resolve(),
    remove: () => Promise.resolve(),
    login: () =>
      Promise.reject(
        new EngineError('The service runs without Postgres, so computes accept no connections.'),
      ),
    close: () => Promise.resolve(),
  };
}
