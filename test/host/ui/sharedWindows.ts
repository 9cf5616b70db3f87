import type { OpenOptions } from '../../workbench/open.ts';

export interface SharedWindow {
  readonly suites: readonly string[];
  /** All that its suites ask for. */
  readonly options?: OpenOptions;
}

/**
 * Suites that follow one another in one window. The first of each has a new one; the last may leave in it what
 * cannot be removed. The others find it as new (makeAsNew.ts), so that each also runs alone.
 */
export const sharedWindows = {
  oneWindow: {
    suites: [
      'walkthrough',
      'accounts',
      'links',
      'computeCreation',
      'computeEdit',
      'pgSettings',
      'mainJobLocalService',
      'localService',
    ],
  },
  anotherWindow: {
    suites: ['mainJobConnected', 'accessibility', 'apiKeys', 'editorHosts'],
  },
  thirdWindow: {
    suites: ['failures', 'apiKeysLocalService', 'keySearch', 'writeEnv'],
  },
  unusualWindow: {
    suites: ['operations', 'editorLargeAccount'],
    options: {
      settings: { 'hostedPostgres.refreshInterval': 5 },
      env: { PATH: '/nonexistent', VSCODE_CLI: '1' },
    },
  },
} satisfies Record<string, SharedWindow>;
