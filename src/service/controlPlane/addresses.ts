/** An address for a new compute that no compute of the account has, running or not. */
import type { Account } from '../state/account.ts';
import { EngineError, type ComputeAddress, type ComputeEngine } from '../core/computeEngine.ts';

const ATTEMPTS = 32_000;

export async function freeAddress(engine: ComputeEngine, account: Account): Promise<ComputeAddress> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const address = await engine.allocateAddress();
    if (!account.ports.has(address.port) && !account.ports.has(address.poolerPort)) return address;
  }
  throw new EngineError('Every port of 127.0.0.1 belongs to a compute.');
}
