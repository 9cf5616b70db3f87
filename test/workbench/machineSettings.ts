import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Turns off welcome pages, suggestions, animation, and network requests by VS Code itself. */
const quiet = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'workbench.enableExperiments': false,
  'chat.disableAIFeatures': true,
  'remote.autoForwardPorts': false,
  'extensions.ignoreRecommendations': true,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
};

/** Writes the default settings of all windows on this server. User settings override them. */
export async function writeMachineSettings(
  dataFolder: string,
  more: Readonly<Record<string, unknown>>,
): Promise<void> {
  const folder = path.join(dataFolder, 'data', 'Machine');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify({ ...quiet, ...more }, null, 2));
}
