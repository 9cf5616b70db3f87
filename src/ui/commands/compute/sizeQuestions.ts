/**
 * The size of a compute: a fixed one, or an autoscaling range asked for as minimum and maximum. Beside each size stands
 * what comes with it (section 2.7); in a range `max_connections` follows from the minimum.
 */
import { l10n, QuickPickItemKind, type QuickPickItem } from 'vscode';
import {
  COMPUTE_SIZES,
  isFixedSize,
  maxConnections,
  type ComputeSize,
  type SizeRange,
} from '../../../api/records/sizes.ts';
import { type Answer, answered, type Page, type Step } from '../input/multiStepInput.ts';
import { pickOne } from '../input/quickInput.ts';

/** What a flow knows about the size: chosen in one step, or in three. */
export interface KnownSize {
  readonly size?: SizeRange;
  /** An autoscaling range was chosen, and its minimum once that is. */
  readonly range?: { readonly min?: number };
}

interface SizeItem extends QuickPickItem {
  /** Undefined: an autoscaling range. */
  readonly cu: number | undefined;
}

/** @param current the size the compute has, marked and in focus. @param applies whether the size is asked for at all */
export function sizeSteps<Known extends KnownSize>(
  current: (known: Known) => SizeRange | undefined,
  applies: (known: Known) => boolean = () => true,
): readonly Step<Known>[] {
  return [
    {
      applies: (known) => applies(known) && known.size === undefined && known.range === undefined,
      ask: async (page, known) =>
        answered(await askFixed(page, current(known)), ({ cu }) =>
          cu === undefined ? { ...known, range: {} } : { ...known, size: { min: cu, max: cu } },
        ),
    },
    {
      applies: (known) => known.range !== undefined && known.range.min === undefined,
      ask: async (page, known) =>
        answered(await askMinimum(page, current(known)), (min) => ({ ...known, range: { min } })),
    },
    {
      applies: (known) => known.range !== undefined && known.size === undefined,
      ask: async (page, known) => {
        const min = known.range?.min ?? 0;
        return answered(await askMaximum(page, min, current(known)), (max) => ({
          ...known,
          size: { min, max },
        }));
      },
    },
  ];
}

async function askFixed(page: Page, current: SizeRange | undefined): Promise<Answer<SizeItem>> {
  const range = current !== undefined && !isFixedSize(current) ? current : undefined;
  const autoscaling: SizeItem = {
    label: `$(arrow-both) ${l10n.t('Autoscaling…')}`,
    description: marked(
      l10n.t('follows the load between a minimum and a maximum, without a restart'),
      range && l10n.t('now {0}–{1} CU', range.min, range.max),
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
  return await pickOne(page, { placeholder: l10n.t('Size: fixed, or autoscaling'), items, isCurrent });
}

async function askMinimum(page: Page, current: SizeRange | undefined): Promise<Answer<number>> {
  // The largest size leaves no room for a maximum above it.
  const items = COMPUTE_SIZES.slice(0, -1).map((size) => sizeItem(size, size.maxConnections, current?.min));
  const placeholder = l10n.t('Minimum of the range: max_connections follows from it');
  const isCurrent = ({ cu }: SizeItem) => cu === current?.min;
  return answered(await pickOne(page, { placeholder, items, isCurrent }), ({ cu }) => cu ?? 0);
}

async function askMaximum(page: Page, min: number, current: SizeRange | undefined): Promise<Answer<number>> {
  const connections = maxConnections(min) ?? 0;
  const now = current !== undefined && !isFixedSize(current) ? current.max : undefined;
  const items = COMPUTE_SIZES.filter(({ cu }) => cu > min).map((size) => sizeItem(size, connections, now));
  const placeholder = l10n.t('Maximum, from {0} CU: max_connections stays {1}', min, connections);
  const isCurrent = ({ cu }: SizeItem) => cu === now;
  return answered(await pickOne(page, { placeholder, items, isCurrent }), ({ cu }) => cu ?? 0);
}

function sizeItem(size: ComputeSize, connections: number, current: number | undefined): SizeItem {
  const { cu, vcpu, ramGb, fileCacheGb } = size;
  const parts = [
    l10n.t('{0} vCPU', vcpu),
    l10n.t('{0} GB RAM', ramGb),
    l10n.t('{0} GB file cache', fileCacheGb),
    l10n.t('max_connections {0}', connections),
  ];
  const now = cu === current ? l10n.t('now') : undefined;
  return { label: `${cu} CU`, description: marked(parts.join(' · '), now), cu };
}

/** The mark comes first: the end of a long line is cut off. */
const marked = (text: string, mark: string | undefined): string =>
  mark === undefined ? text : `${mark} · ${text}`;

const separator = (label: string): SizeItem => ({ label, kind: QuickPickItemKind.Separator, cu: undefined });
