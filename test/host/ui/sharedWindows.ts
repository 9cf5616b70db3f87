import type { OpenOptions } from '../../workbench/open.ts';

export interface SharedWindow {
  readonly suites: readonly string[];
  /** The options of all its suites. */
  readonly options?: OpenOptions;
}

/**
 * Suites that share a window, in order. The window is reset between them (resetWindow.ts), so that each also runs alone.
 * What cannot be reset is only safe to leave behind in the last suite of a window.
 */
export const sharedWindows = {
  firstWindow: {
    suites: [
      'walkthrough',
      'accounts',
      'computeCreation',
      'computeEdit',
      'pgSettings',
      'mainJobLocalService',
      'localService',
    ],
  },
  secondWindow: {
    suites: ['mainJobConnected', 'accessibility', 'apiKeys', 'editorHosts', 'computePower'],
  },
  thirdWindow: {
    suites: ['failures', 'apiKeysLocalService', 'keySearch', 'writeEnv'],
  },
  fourthWindow: {
    suites: ['branches', 'palette', 'organizations', 'branchesNotOffered', 'keyRotation', 'marks'],
  },
  customizedWindow: {
    suites: ['operations', 'editorLargeAccount'],
    options: {
      settings: { 'hostedPostgres.refreshInterval': 5 },
      env: { PATH: '/nonexistent', VSCODE_CLI: '1' },
    },
  },
} satisfies Record<string, SharedWindow>;
