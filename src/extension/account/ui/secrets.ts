import { l10n, type SecretStorage } from 'vscode';
import type { SecretStore } from '../accounts.ts';

/** Adapts VS Code's SecretStorage for code that doesn't use `vscode`. Without a keyring, VS Code warns and keeps secrets in memory. */
export const secretStore = (storage: SecretStorage): SecretStore => ({
  get: async (entry) => await storage.get(entry),
  store: async (entry, value) => await storage.store(entry, value),
  /** Reads the value back, because some keyrings store nothing and report no error. */
  async storeDurably(entry, value) {
    await storage.store(entry, value);
    if ((await storage.get(entry)) !== value)
      throw new Error(
        l10n.t("The system's keyring didn't store the key. Make sure that it is unlocked, then try again."),
      );
  },
  delete: async (entry) => await storage.delete(entry),
  onDidChange: (listener) => storage.onDidChange(({ key }) => listener(key)),
});
