/**
 * Asks for the size of a compute: a fixed one, or the minimum and maximum of an autoscaling range. Each size is shown with
 * its resources (section 2.7). In a range, the minimum determines `max_connections`.
 */
import { l10n, QuickPickItemKind, ThemeIcon, type QuickPickItem } from 'vscode';
import {
  COMPUTE_SIZES,
  isFixedSize,
  maxConnections,
  type ComputeSize,
  type SizeRange,
} from '../../../api/records/sizes.ts';
import { mapAnswer, type Answer, type Page, type Step } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

/** The answers about the size, which take one step or three. */
export interface SizeState {
  readonly size?: SizeRange;
  /** Defined for an autoscaling range, with its minimum once that is picked. */
  readonly range?: { readonly min?: number };
}

interface SizeItem extends QuickPickItem {
  /** Undefined for an autoscaling range. */
  readonly cu: number | undefined;
}

/** @param current the size of the compute, marked and focused. @param applies whether to ask for the size */
export function sizeSteps<State extends SizeState>(
  current: (state: State) => SizeRange | undefined,
  applies: (state: State) => boolean = () => true,
): readonly Step<State>[] {
  return [
    {
      applies: (state) => applies(state) && state.size === undefined && state.range === undefined,
      ask: async (page, state) =>
        mapAnswer(await askFixed(page, current(state)), ({ cu }) =>
          cu === undefined ? { ...state, range: {} } : { ...state, size: { min: cu, max: cu } },
        ),
    },
    {
      applies: (state) => state.range !== undefined && state.range.min === undefined,
      ask: async (page, state) =>
        mapAnswer(await askMinimum(page, current(state)), (min) => ({ ...state, range: { min } })),
    },
    {
      applies: (state) => state.range !== undefined && state.size === undefined,
      ask: async (page, state) => {
        const min = state.range?.min ?? 0;
        return mapAnswer(await askMaximum(page, min, current(state)), (max) => ({
          ...state,
          size: { min, max },
        }));
      },
    },
  ];
}

async function askFixed(page: Page, current: SizeRange | undefined): Promise<Answer<SizeItem>> {
  const range = current !== undefined && !isFixedSize(current) ? current : undefined;
  const autoscaling: SizeItem = {
    label: l10n.t('Autoscaling…'),
    iconPath: new ThemeIcon('arrow-both'),
    description: marked(
      l10n.t('scales with the load between a minimum and a maximum, without restarts'),
      range && l10n.t('current: {0}–{1} CU', range.min, range.max),
    ),
    cu: undefined,
  };
  const fixed = range === undefined ? current?.min : undefined;
  const items = [
    autoscaling,
    separator(l10n.t('Fixed size')),
    ...COMPUTE_SIZES.map((size) => sizeItem(size, size.maxConnections, fixed)),
  ];
  const isCurrent = ({ cu }: SizeItem) =>
    range === undefined ? cu === (fixed ?? COMPUTE_SIZES[0]?.cu) : false;
  return await pickOne(page, { placeholder: l10n.t('Select a fixed size or autoscaling'), items, isCurrent });
}

async function askMinimum(page: Page, current: SizeRange | undefined): Promise<Answer<number>> {
  // No maximum is larger than the largest size.
  const items = COMPUTE_SIZES.slice(0, -1).map((size) => sizeItem(size, size.maxConnections, current?.min));
  const placeholder = l10n.t('Select the minimum. It determines max_connections');
  const isCurrent = ({ cu }: SizeItem) => cu === current?.min;
  return mapAnswer(await pickOne(page, { placeholder, items, isCurrent }), ({ cu }) => cu ?? 0);
}

async function askMaximum(page: Page, min: number, current: SizeRange | undefined): Promise<Answer<number>> {
  const connections = maxConnections(min) ?? 0;
  const currentMax = current !== undefined && !isFixedSize(current) ? current.max : undefined;
  const items = COMPUTE_SIZES.filter(({ cu }) => cu > min).map((size) =>
    sizeItem(size, connections, currentMax),
  );
  const placeholder = l10n.t(
    'Select the maximum for a minimum of {0} CU and max_connections {1}',
    min,
    connections,
  );
  const isCurrent = ({ cu }: SizeItem) => cu === currentMax;
  return mapAnswer(await pickOne(page, { placeholder, items, isCurrent }), ({ cu }) => cu ?? 0);
}

function sizeItem(size: ComputeSize, connections: number, current: number | undefined): SizeItem {
  const { cu, vcpu, ramGb, fileCacheGb } = size;
  const parts = [
    l10n.t('{0} vCPU', vcpu),
    l10n.t('{0} GB RAM', ramGb),
    l10n.t('{0} GB file cache', fileCacheGb),
    l10n.t('max_connections {0}', connections),
  ];
  const mark = cu === current ? l10n.t('current') : undefined;
  return { label: `${cu} CU`, description: marked(parts.join(' · '), mark), cu };
}

/** The mark comes first, because the end of a long line is cut off. */
const marked = (text: string, mark: string | undefined): string =>
  mark === undefined ? text : `${mark} · ${text}`;

const separator = (label: string): SizeItem => ({ label, kind: QuickPickItemKind.Separator, cu: undefined });
