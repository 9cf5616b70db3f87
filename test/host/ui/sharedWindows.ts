import { sqlClients } from '../../helpers/sqlClients.ts';
import type { OpenOptions } from '../../workbench/open.ts';

export interface SharedWindow {
  readonly suites: readonly string[];
  /** The options of all its suites. */
  readonly options?: () => OpenOptions;
}

/** The text of a terminal is in the page only without a GPU. */
export const READABLE_TERMINALS = { 'terminal.integrated.gpuAcceleration': 'off' };

/** Variables of another service, which a rehearsal takes for those of a database. */
export const MAIL_SERVER = { MAIL_HOST: 'mail.invalid', MAIL_PASSWORD: 'secret' };

/**
 * Suites that share a window, in order. `npm test` opens the first window, and `npm run test:all` all of them. The window is
 * reset between them (resetWindow.ts), so that each also runs alone. Only the last suite of a window may leave behind what
 * cannot be reset.
 */
export const sharedWindows = {
  firstWindow: {
    suites: ['remoteService', 'commonTasks', 'tryLocalService'],
    options: () => ({ otherExtensions: sqlClients().folders, settings: READABLE_TERMINALS }),
  },
  secondWindow: {
    suites: ['walkthrough', 'accounts', 'computes', 'pgSettings', 'localService'],
  },
  thirdWindow: {
    suites: ['accessibility', 'apiKeys', 'editorHosts', 'failures', 'tidyUp', 'writeEnv'],
  },
  fourthWindow: {
    suites: [
      'branches',
      'schema',
      'rows',
      'rehearsals',
      'undo',
      'pastPsql',
      'snapshots',
      'restoredEditors',
      'operations',
      'marks',
      'keySearch',
      'workBranch',
    ],
    options: () => ({ settings: READABLE_TERMINALS, env: MAIL_SERVER }),
  },
} satisfies Record<string, SharedWindow>;
