/** Changes of a project's own properties. */
import type { Project } from '../../api/records/records.ts';
import type { ProjectPatch } from '../../api/records/requests.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { ServiceChange } from '../operations/changeSender.ts';

/** Whether programs can follow the changes of the project's data. Once turned on, this can't be turned off. */
export const hasLogicalReplication = ({ settings }: Project): boolean =>
  settings?.enable_logical_replication === true;

/** Returns the change of a project's properties, ready to be sent. @param wasMade whether a reloaded project shows the change */
export const projectEdit = (
  inventory: Inventory,
  id: string,
  change: ProjectPatch,
  wasMade: (project: Project) => boolean,
): ServiceChange => ({
  verb: 'edit',
  feature: 'projects',
  targetStillExists: () => inventory.projects?.entries.has(id) === true,
  send: (client, call) => client.updateProject(id, change, call),
  find: () => {
    const project = inventory.project(id);
    return project !== undefined && wasMade(project) ? {} : undefined;
  },
});
