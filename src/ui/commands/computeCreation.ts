/** The questions before a compute is created. Started from a project or branch, they skip what is known. */
import { l10n, type QuickPickItem } from 'vscode';
import { isBranchId } from '../../api/ids.ts';
import type { ComputeCreation } from '../../api/requests.ts';
import { isPrimary, labelOf } from '../../model/computeStatus.ts';
import { asBranchNode, asProjectNode } from '../../model/nodes.ts';
import { plain } from '../plain.ts';
import { chooseProject } from './choose.ts';
import type { CommandContext } from './context.ts';
import { answered, runFlow, type Step } from './flow.ts';
import { pickOne, type Answer, type Page } from './quickInput.ts';

export interface WantedCompute {
  readonly projectId: string;
  readonly creation: ComputeCreation;
}

interface Known {
  readonly projectId?: string | undefined;
  readonly branchId?: string | undefined;
  readonly type?: ComputeCreation['type'];
}

/** @returns undefined when the user gave up. @throws {ApiError} */
export async function askForCreation(
  context: CommandContext,
  argument: unknown,
): Promise<WantedCompute | undefined> {
  const start: Known = {
    projectId: (asProjectNode(argument) ?? asBranchNode(argument))?.projectId,
    branchId: asBranchNode(argument)?.branchId,
  };
  const known = await runFlow(l10n.t('Create Compute'), start, stepsOf(context));
  if (known?.projectId === undefined || known.branchId === undefined || known.type === undefined)
    return undefined;
  return { projectId: known.projectId, creation: { branch_id: known.branchId, type: known.type } };
}

const stepsOf = (context: CommandContext): readonly Step<Known>[] => [
  {
    applies: (known) => known.projectId === undefined,
    ask: async (page, known) =>
      answered(await chooseProject(context, page), (projectId) => ({ ...known, projectId })),
  },
  {
    applies: (known) => known.branchId === undefined,
    ask: async (page, known) =>
      answered(await chooseBranch(context, page, known.projectId ?? ''), (branchId) => ({
        ...known,
        branchId,
      })),
  },
  {
    applies: (known) => known.type === undefined,
    ask: async (page, known) =>
      answered(await chooseType(context, page, known), (type) => ({ ...known, type })),
  },
];

interface BranchItem extends QuickPickItem {
  readonly branchId: string | undefined;
}

/** Branches are known by their computes; one without any can be typed. */
async function chooseBranch(context: CommandContext, page: Page, projectId: string): Promise<Answer<string>> {
  const items = async (): Promise<BranchItem[]> => {
    const list = await context.inventory.loadComputes(projectId);
    return [...(list?.branches() ?? [])].map(([branchId, computes]) => ({
      label: plain(branchId),
      description: computes.some(isPrimary) ? l10n.t('has a primary') : l10n.t('no primary'),
      branchId,
    }));
  };
  const known = items();
  let ids: ReadonlySet<string | undefined> = new Set();
  known.then(
    (all) => (ids = new Set(all.map(({ branchId }) => branchId))),
    () => undefined,
  );
  const typed = (text: string): BranchItem | undefined => {
    if (!text.startsWith('br-') || ids.has(text)) return undefined;
    return isBranchId(text)
      ? { label: text, description: l10n.t('a branch without computes'), alwaysShow: true, branchId: text }
      : {
          label: text,
          description: l10n.t('not a branch id: br- and then a–z, 0–9 or -'),
          alwaysShow: true,
          branchId: undefined,
        };
  };
  const placeholder = l10n.t('Branch: pick one, or type its id (br-…)');
  const isRefused = (item: BranchItem) => item.branchId === undefined;
  const picked = await pickOne(page, { placeholder, items: known, typed, isRefused });
  return answered(picked, (item) => item.branchId ?? '');
}

interface TypeItem extends QuickPickItem {
  readonly type: ComputeCreation['type'];
  readonly isRefused: boolean;
}

async function chooseType(
  context: CommandContext,
  page: Page,
  { projectId = '', branchId = '' }: Known,
): Promise<Answer<ComputeCreation['type']>> {
  const items = async (): Promise<TypeItem[]> => {
    const list = await context.inventory.loadComputes(projectId);
    const primary = list?.branches().get(branchId)?.find(isPrimary);
    const replica: TypeItem = {
      label: l10n.t('Read replica'),
      description: l10n.t('read-only; a branch may have any number'),
      type: 'read_only',
      isRefused: false,
    };
    const first: TypeItem = {
      label: l10n.t('Primary'),
      description:
        primary === undefined
          ? l10n.t('read and write; one for each branch')
          : l10n.t('not possible: {0} is the primary of this branch', plain(labelOf(primary))),
      type: 'read_write',
      isRefused: primary !== undefined,
    };
    return primary === undefined ? [first, replica] : [replica, first];
  };
  const placeholder = l10n.t('Type of the compute on {0}', branchId);
  const isRefused = (item: TypeItem) => item.isRefused;
  return answered(await pickOne(page, { placeholder, items: items(), isRefused }), (item) => item.type);
}
