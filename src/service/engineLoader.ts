/** Picks the engine. Real Postgres is loaded late, so that it costs nothing where it is not wanted. */
import type { ComputeEngine } from './core/computeEngine.ts';
import { createNoPostgresEngine } from './noPostgres.ts';

export interface EngineChoice {
  readonly postgres: boolean;
  readonly postgresPath: string | undefined;
  readonly dataDir: string;
  readonly log: (line: string) => void;
}

export async function loadEngine(choice: EngineChoice): Promise<ComputeEngine> {
  if (!choice.postgres) return createNoPostgresEngine();
  const { createPostgresEngine } = await import('./postgres/engine.ts');
  const { dataDir, postgresPath, log } = choice;
  return createPostgresEngine({ dataDir, postgresPath, log });
}
