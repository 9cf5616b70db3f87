/** Creates the inventory connected to a service, wired as in the extension, until the end of the test. The secret store is a map. */
import { Client } from '../../src/api/client.ts';
import { DisposableStore } from '../../src/base/disposable.ts';
import { Accounts } from '../../src/model/account/accounts.ts';
import { Inventory } from '../../src/model/inventory/inventory.ts';
import { Session } from '../../src/model/account/session.ts';
import { atEndOfTest } from './atEndOfTest.ts';
import type { LocalService } from './localService.ts';
import { SecretMap } from './secretMap.ts';

export interface ConnectedInventory {
  readonly session: Session;
  readonly inventory: Inventory;
  /** Method and path of every request, in the order of sending. */
  readonly requests: readonly string[];
  signOut(): Promise<void>;
  signIn(): Promise<void>;
  dispose(): void;
}

export async function connectInventory(
  service: Pick<LocalService, 'baseUrl' | 'key'>,
): Promise<ConnectedInventory> {
  const disposables = new DisposableStore();
  atEndOfTest(() => disposables.dispose());
  const account = { baseUrl: service.baseUrl, name: '' };
  const accounts = disposables.add(new Accounts(new SecretMap()));
  await accounts.add(account, service.key);
  const requests: string[] = [];
  const recordingFetch: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    requests.push(`${request.method} ${request.url.slice(service.baseUrl.length)}`);
    return fetch(request);
  };
  const open = ({ baseUrl }: { baseUrl: LocalService['baseUrl'] }, key: string) =>
    Promise.resolve(new Client({ baseUrl, key, fetch: recordingFetch, retries: 0 }));
  const session = disposables.add(new Session(accounts, open));
  const inventory = disposables.add(new Inventory(session, () => undefined));
  await session.start();
  const choose = async (chosen: typeof account | undefined) => {
    await accounts.choose(chosen);
    await session.reread();
  };
  return {
    session,
    inventory,
    requests,
    signOut: () => choose(undefined),
    signIn: () => choose(account),
    dispose: () => disposables.dispose(),
  };
}
