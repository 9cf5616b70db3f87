/** The questions of Edit Compute…: which compute, what of it, and what it is to become. */
import { l10n } from 'vscode';
import { AUTOSUSPEND_DEFAULT } from '../../../api/records/autosuspend.ts';
import type { Compute } from '../../../api/records/records.ts';
import type { ComputeChange } from '../../../api/records/requests.ts';
import { isPrimary, labelOf, sizeOf } from '../../../model/inventory/computeStatus.ts';
import type { ComputeNode } from '../../../model/inventory/nodes.ts';
import { sanitize } from '../../text/sanitize.ts';
import { askAutosuspend } from './autosuspendQuestion.ts';
import { askBranch } from './branchQuestion.ts';
import { chooseCompute, chooseProject } from '../input/pickers.ts';
import type { CommandContext } from '../context.ts';
import { askWhat, type Edited } from './editChoice.ts';
import { answered, runFlow, type Step, type Answer, type Page } from '../input/multiStepInput.ts';
import { askText } from '../input/quickInput.ts';
import { sizeSteps, type KnownSize } from './sizeQuestions.ts';

export interface WantedEdit {
  readonly compute: Compute;
  readonly edited: Edited;
  /** Empty for the settings, which are edited as a document. */
  readonly change: ComputeChange;
}

interface Known extends KnownSize {
  readonly projectId?: string | undefined;
  readonly compute?: Compute | undefined;
  readonly edited?: Edited;
  readonly change?: ComputeChange;
}

/** @returns undefined when the user gave up. @throws {ApiError} */
export async function askForEdit(
  context: CommandContext,
  given: ComputeNode | undefined,
): Promise<WantedEdit | undefined> {
  const compute = given && (await loaded(context, given));
  const start: Known = { projectId: given?.projectId, compute };
  const known = await runFlow(l10n.t('Edit Compute'), start, stepsOf(context));
  if (known?.compute === undefined || known.edited === undefined) return undefined;
  return { compute: known.compute, edited: known.edited, change: changeOf(known, known.compute) };
}

async function loaded({ inventory }: CommandContext, node: ComputeNode): Promise<Compute> {
  await inventory.loadComputes(node.projectId);
  const compute = inventory.compute(node.projectId, node.computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} is no longer there.', node.computeId));
  return compute;
}

function changeOf({ edited, size, change = {} }: Known, compute: Compute): ComputeChange {
  if (edited === 'size' && size !== undefined)
    return { autoscaling_limit_min_cu: size.min, autoscaling_limit_max_cu: size.max };
  if (edited === 'pooler') return { pooler_enabled: compute.pooler_enabled !== true };
  if (edited === 'disabled') return { disabled: compute.disabled !== true };
  return change;
}

function stepsOf(context: CommandContext): readonly Step<Known>[] {
  return [
    {
      applies: (known) => known.projectId === undefined,
      ask: async (page, known) =>
        answered(await chooseProject(context, page), (projectId) => ({ ...known, projectId })),
    },
    {
      applies: (known) => known.compute === undefined,
      ask: async (page, known) => {
        const node = await chooseCompute(context, page, known.projectId ?? '');
        return answered(node, ({ projectId, computeId }) => ({
          ...known,
          compute: context.inventory.compute(projectId, computeId),
        }));
      },
    },
    asking(
      (page, compute) => askWhat(page, compute),
      (known, edited) => ({ ...known, edited }),
    ),
    ...sizeSteps<Known>(
      ({ compute }) => compute && sizeOf(compute),
      ({ edited }) => edited === 'size',
    ),
    value('autosuspend', askDelay),
    value('branch', (page, compute) => askTarget(context, page, compute)),
    value('name', askName),
  ];
}

/** A step about the compute chosen before. */
function asking<T>(
  ask: (page: Page, compute: Compute) => Promise<Answer<T>>,
  use: (known: Known, answer: T) => Known,
  applies: (known: Known) => boolean = () => true,
): Step<Known> {
  return {
    applies,
    ask: async (page, known) =>
      known.compute && answered(await ask(page, known.compute), (answer) => use(known, answer)),
  };
}

/** A step that asks for the new value, if this is what is edited. */
const value = (
  edited: Edited,
  ask: (page: Page, compute: Compute) => Promise<Answer<ComputeChange>>,
): Step<Known> =>
  asking(
    ask,
    (known, change) => ({ ...known, change }),
    (known) => known.edited === edited,
  );

const askDelay = async (page: Page, compute: Compute): Promise<Answer<ComputeChange>> =>
  answered(
    await askAutosuspend(page, compute.suspend_timeout_seconds ?? AUTOSUSPEND_DEFAULT),
    (suspend_timeout_seconds) => ({ suspend_timeout_seconds }),
  );

/** A branch with a primary takes no second one (section 4.3); read replicas may go anywhere. */
async function askTarget(
  context: CommandContext,
  page: Page,
  compute: Compute,
): Promise<Answer<ComputeChange>> {
  const refusal = (branchId: string, computes: readonly Compute[]) => {
    if (branchId === compute.branch_id) return l10n.t('where it is now');
    const primary = isPrimary(compute) ? computes.find(isPrimary) : undefined;
    return primary && l10n.t('not possible: {0} is the primary of this branch', sanitize(labelOf(primary)));
  };
  const branch = await askBranch(context, page, { projectId: compute.project_id, refusal });
  return answered(branch, (branch_id) => ({ branch_id }));
}

const LONGEST_NAME = 64;

const askName = async (page: Page, compute: Compute): Promise<Answer<ComputeChange>> =>
  answered(
    await askText(page, {
      prompt: l10n.t('A name for {0}', compute.id),
      value: compute.name ?? '',
      problem: (text) => {
        if (text.trim() === '') return l10n.t('Must not be empty');
        return text.trim().length > LONGEST_NAME ? l10n.t('At most {0} characters', LONGEST_NAME) : undefined;
      },
    }),
    (name) => ({ name: name.trim() }),
  );
