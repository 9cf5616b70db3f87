/** The questions of Edit Compute…: the compute, what to change and the new value. */
import { l10n, ThemeIcon } from 'vscode';
import { AUTOSUSPEND_DEFAULT } from '../../../api/records/autosuspend.ts';
import type { Compute } from '../../../api/records/records.ts';
import type { ComputePatch } from '../../../api/records/requests.ts';
import { isPrimary, labelOf, sizeOf, sizeText } from '../../../model/inventory/computeStatus.ts';
import { asComputeNode } from '../../../model/inventory/nodes.ts';
import { settingsOn } from '../../../model/settings/pgSettings.ts';
import { requireWritable } from '../../notifications/approval.ts';
import { branchLabel } from '../../text/branchText.ts';
import { autosuspendText } from '../../text/timeText.ts';
import { sanitize } from '../../../base/sanitize.ts';
import type { CommandContext } from '../context.ts';
import { mapAnswer, runSteps, type Answer, type StepPosition, type Step } from '../input/multiStepInput.ts';
import { computeSteps, requireCompute, type ComputeState } from '../input/pickers.ts';
import { askText, pickOne, type Choice } from '../input/quickInput.ts';
import { askAutosuspend, sizeSteps, type SizeState } from './computeQuestions.ts';
import { askBranch } from '../input/branchPicker.ts';

/** `pooler` and `disabled` are toggled without another question. */
type Edited = 'size' | 'autosuspend' | 'branch' | 'pooler' | 'disabled' | 'name' | 'settings';

interface EditAnswers {
  readonly compute: Compute;
  readonly edited: Edited;
  /** Empty for the Postgres settings, which are edited in a document. */
  readonly change: ComputePatch;
}

interface EditState extends SizeState, ComputeState {
  readonly edited?: Edited;
  readonly change?: ComputePatch;
}

/** @returns undefined if the user canceled. @throws {ApiError} */
export async function askForEdit(
  context: CommandContext,
  argument: unknown,
): Promise<EditAnswers | undefined> {
  const node = asComputeNode(argument);
  if (node !== undefined) await requireCompute(context, node);
  const state = await runSteps<EditState>(l10n.t('Edit Compute'), { node }, editSteps(context));
  const compute = state && computeOf(context, state);
  if (state?.node === undefined || compute === undefined || state.edited === undefined) return undefined;
  await context.lastCompute.remember(state.node);
  return { compute, edited: state.edited, change: changeOf(state) };
}

const computeOf = ({ inventory }: CommandContext, { node }: ComputeState): Compute | undefined =>
  node && inventory.compute(node.projectId, node.computeId);

function changeOf({ edited, size, change = {} }: EditState): ComputePatch {
  if (edited === 'size' && size !== undefined)
    return { autoscaling_limit_min_cu: size.min, autoscaling_limit_max_cu: size.max };
  return change;
}

/** The opposite of the value that the user saw, even if the compute was refreshed since. */
function toggled(edited: Edited, shown: Compute): ComputePatch {
  if (edited === 'pooler') return { pooler_enabled: shown.pooler_enabled !== true };
  if (edited === 'disabled') return { disabled: shown.disabled !== true };
  return {};
}

function editSteps(context: CommandContext): readonly Step<EditState>[] {
  const computeIn = async ({ node }: EditState) => {
    if (node === undefined) return undefined;
    requireWritable(context.guards, node);
    return await requireCompute(context, node);
  };
  /** Asks for a new value if the user chose to edit it. */
  const newValue = (
    edited: Edited,
    ask: (position: StepPosition, compute: Compute) => Promise<Answer<ComputePatch>>,
  ): Step<EditState> => ({
    applies: (state) => state.edited === edited,
    ask: async (position, state) => {
      const compute = await computeIn(state);
      return compute && mapAnswer(await ask(position, compute), (change) => ({ ...state, change }));
    },
  });
  const sizeIn = (state: EditState) => {
    const compute = computeOf(context, state);
    return compute && sizeOf(compute);
  };
  return [
    ...computeSteps<EditState>(context, l10n.t('Select a compute')),
    {
      ask: async (position, state) => {
        const compute = await computeIn(state);
        if (compute === undefined) return undefined;
        const answer = await askWhat(context, position, compute);
        return mapAnswer(answer, (edited) => ({ ...state, edited, change: toggled(edited, compute) }));
      },
    },
    ...sizeSteps<EditState>(sizeIn, ({ edited }) => edited === 'size'),
    newValue('autosuspend', askDelay),
    newValue('branch', (position, compute) => askTarget(context, position, compute)),
    newValue('name', askComputeName),
  ];
}

async function askWhat(
  { inventory }: CommandContext,
  position: StepPosition,
  compute: Compute,
): Promise<Answer<Edited>> {
  const { project_id: projectId, branch_id: branchId } = compute;
  const branch = branchLabel(branchId, inventory.branches.get(projectId, branchId));
  const placeholder = l10n.t('Select what to change on {0}', sanitize(labelOf(compute)));
  const items = editItems(compute, branch);
  return await pickOne(position, { placeholder, items });
}

function editItems(compute: Compute, branch: string): Choice<Edited>[] {
  const isPooled = compute.pooler_enabled === true;
  const isDisabled = compute.disabled === true;
  const settings = Object.entries(settingsOn(compute)).map(([name, value]) => `${name} = ${value}`);
  return [
    item('size', 'dashboard', l10n.t('Size…'), sizeText(compute)),
    item('autosuspend', 'clock', l10n.t('Autosuspend…'), autosuspendText(compute.suspend_timeout_seconds)),
    item(
      'settings',
      'settings',
      l10n.t('Postgres Settings…'),
      sanitize(settings.join(', ')) || l10n.t('none'),
    ),
    item('branch', 'git-branch', l10n.t('Move to Another Branch…'), branch),
    item('name', 'tag', l10n.t('Name…'), sanitize(compute.name ?? '') || l10n.t('none')),
    isPooled
      ? item('pooler', 'plug', l10n.t('Turn Pooled Connections Off'), l10n.t('on'))
      : item('pooler', 'plug', l10n.t('Turn Pooled Connections On'), l10n.t('off')),
    isDisabled
      ? item('disabled', 'play', l10n.t('Enable'), l10n.t('disabled'))
      : item('disabled', 'circle-slash', l10n.t('Disable…'), l10n.t('enabled')),
  ];
}

const item = (edited: Edited, icon: string, label: string, current: string): Choice<Edited> => ({
  label,
  iconPath: new ThemeIcon(icon),
  description: current,
  value: edited,
});

const askDelay = async (position: StepPosition, compute: Compute): Promise<Answer<ComputePatch>> =>
  mapAnswer(
    await askAutosuspend(position, compute.suspend_timeout_seconds ?? AUTOSUSPEND_DEFAULT),
    (suspend_timeout_seconds) => ({ suspend_timeout_seconds }),
  );

/** A primary can't move to a branch that has one (section 4.3). Read replicas can move anywhere. */
async function askTarget(
  context: CommandContext,
  position: StepPosition,
  compute: Compute,
): Promise<Answer<ComputePatch>> {
  const problem = (branchId: string, computes: readonly Compute[]) => {
    if (branchId === compute.branch_id) return l10n.t('current branch');
    const primary = isPrimary(compute) ? computes.find(isPrimary) : undefined;
    return primary && l10n.t('not available: {0} is the primary of this branch', sanitize(labelOf(primary)));
  };
  const branch = await askBranch(context, position, { projectId: compute.project_id, problem });
  return mapAnswer(branch, (branch_id) => ({ branch_id }));
}

const MAX_COMPUTE_NAME = 64;

const askComputeName = async (position: StepPosition, compute: Compute): Promise<Answer<ComputePatch>> =>
  mapAnswer(
    await askText(position, {
      prompt: l10n.t('Name of {0}', compute.id),
      value: compute.name ?? '',
      problem: (text) =>
        text.length > MAX_COMPUTE_NAME ? l10n.t('At most {0} characters', MAX_COMPUTE_NAME) : undefined,
    }),
    (name) => ({ name }),
  );
