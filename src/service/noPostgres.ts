/** The engine of `--no-postgres`: computes change state and nothing runs behind them. */
import { EngineError, type ComputeEngine } from './core/computeEngine.ts';

const FIRST_PORT = 2_000;
const LAST_PORT = 65_534;

/** Addresses are given out like any other, though nobody listens there; the caller passes over those in use. */
export function createStatesOnlyEngine(): ComputeEngine {
  let next = 15_432;
  return {
    pgVersion: undefined,
    pooler: { available: true },
    open: () => Promise.resolve(),
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
      Promise.reject(new EngineError('The service runs without Postgres: there is nothing to connect to.')),
    close: () => Promise.resolve(),
  };
}
