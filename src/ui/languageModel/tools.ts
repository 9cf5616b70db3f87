/** The tools by name: those that look, and those that change. */
import { l10n } from 'vscode';
import type { Inventory } from '../../model/inventory.ts';
import { byTypeAndLabel } from '../../model/computeStatus.ts';
import { explainError } from '../text/errorMessage.ts';
import { resizeCompute, restartCompute } from './changes.ts';
import { computeAt, fieldsOf, requireConnection, targetOf } from './input.ts';
import type { Tool, ToolName } from './parts.ts';
import { computeDetail, computeTold, projectTold } from './told.ts';

/** A model has to read all of it; with more it is told to name a project. */
const PROJECTS_TOLD = 20;
const COMPUTES_TOLD = 100;

const listComputes: Tool = {
  prepare: () => ({ invocationMessage: l10n.t('Listing computes') }),
  async invoke(parts, input) {
    requireConnection(parts);
    const { inventory } = parts;
    await inventory.projects?.allPages();
    const found = projectsMatching(inventory, fieldsOf(input)['project']);
    const told = found.slice(0, PROJECTS_TOLD);
    // A project that fails says so in its own place.
    await inventory.refreshComputesOf(told).catch(() => undefined);
    let room = COMPUTES_TOLD;
    const projects = told.map((id) => {
      const all = [...(inventory.computesOf(id)?.computes.values() ?? [])].sort(byTypeAndLabel);
      const computes = all.slice(0, room).map(computeTold);
      room -= computes.length;
      const failure = inventory.computesOf(id)?.failure;
      return {
        ...projectTold(inventory, id),
        computes,
        computesLeftOut: all.length - computes.length || undefined,
        problem: failure === undefined ? undefined : explainError(failure).message,
      };
    });
    return { projects, projectsLeftOut: found.length - told.length || undefined };
  },
};

/** @param wanted an id, or a part of a name; all projects for anything else */
function projectsMatching(inventory: Inventory, wanted: unknown): string[] {
  const all = [...(inventory.projects?.entries.values() ?? [])];
  if (typeof wanted !== 'string' || wanted.trim() === '') return all.map(({ id }) => id);
  const part = wanted.trim().toLowerCase();
  return all
    .filter(({ id, record }) => id === part || record?.name.toLowerCase().includes(part) === true)
    .map(({ id }) => id);
}

const getCompute: Tool = {
  prepare(_parts, input) {
    const target = targetOf(input);
    return target && { invocationMessage: l10n.t('Reading {0}', target.computeId) };
  },
  invoke: async (parts, input) => computeDetail(parts.inventory, await computeAt(parts, input)),
};

export const TOOLS: Readonly<Record<ToolName, Tool>> = {
  hostedPostgres_listComputes: listComputes,
  hostedPostgres_getCompute: getCompute,
  hostedPostgres_restartCompute: restartCompute,
  hostedPostgres_resizeCompute: resizeCompute,
};
