import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** A window without greetings, suggestions, moving parts or network use of its own. */
const calm = {
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

/** Writes the settings that every window on this server starts from; a setting of the user goes before them. */
export async function writeMachineSettings(
  dataFolder: string,
  more: Readonly<Record<string, unknown>>,
): Promise<void> {
  const folder = path.join(dataFolder, 'data', 'Machine');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify({ ...calm, ...more }, null, 2));
}
