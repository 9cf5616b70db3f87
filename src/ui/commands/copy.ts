/** What leaves for the clipboard: hosts and connection strings. */
import { env, l10n, window, type QuickPickItem } from 'vscode';
import type { Compute } from '../../api/records.ts';
import { connectionString, pooledHost } from '../../model/connectionStrings.ts';
import { asComputeNode } from '../../model/nodes.ts';
import { plain } from '../plain.ts';
import { pickCompute } from './choose.ts';
import type { Command, CommandContext } from './context.ts';
import { answered, runFlow, type Step } from './flow.ts';
import { askText, pickOne, type Answer, type Page } from './quickInput.ts';

const SHOWN_FOR = 4000;

async function copied(text: string, words: string): Promise<void> {
  await env.clipboard.writeText(text);
  window.setStatusBarMessage(`$(check) ${words}`, SHOWN_FOR);
}

async function computeOf(
  context: CommandContext,
  title: string,
  argument: unknown,
): Promise<Compute | undefined> {
  const node = await pickCompute(context, title, asComputeNode(argument));
  if (node === undefined) return undefined;
  await context.inventory.loadComputes(node.projectId);
  const compute = context.inventory.compute(node.projectId, node.computeId);
  if (compute === undefined) throw new Error(l10n.t('{0} is no longer there.', node.computeId));
  return compute;
}

interface HostItem extends QuickPickItem {
  readonly pooled: boolean;
}

const hostItems = (compute: Compute): HostItem[] => [
  { label: l10n.t('Direct'), description: plain(compute.host), pooled: false },
  { label: l10n.t('Pooled'), description: plain(pooledHost(compute) ?? ''), pooled: true },
];

const chooseHost = async (page: Page, compute: Compute): Promise<Answer<boolean>> =>
  answered(
    await pickOne(page, { placeholder: l10n.t('Host'), items: hostItems(compute) }),
    (item) => item.pooled,
  );

export const copyHost: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not copy the host');
  const title = l10n.t('Copy Host');
  const compute = await computeOf(context, title, argument);
  if (compute === undefined) return;
  const pooled = pooledHost(compute);
  const page = { title, step: 1, steps: 1, canGoBack: false };
  const choice = pooled === undefined ? false : await chooseHost(page, compute);
  if (typeof choice !== 'boolean') return;
  const host = choice && pooled !== undefined ? pooled : compute.host;
  await copied(host, l10n.t('Copied {0}', plain(host)));
};

interface Known {
  readonly pooled?: boolean;
  readonly role?: string;
  readonly database?: string;
}

export const copyConnectionString: Command = async (context, argument, run) => {
  run.couldNot = l10n.t('Could not copy the connection string');
  const title = l10n.t('Copy Connection String');
  const compute = await computeOf(context, title, argument);
  if (compute === undefined) return;
  const known = await runFlow<Known>(title, {}, stepsOf(context, compute));
  if (known?.role === undefined || known.database === undefined) return;
  const host = (known.pooled === true ? pooledHost(compute) : undefined) ?? compute.host;
  const text = connectionString({ host, role: known.role, database: known.database });
  await copied(text, l10n.t('Copied the connection string, without a password'));
};

function stepsOf(context: CommandContext, compute: Compute): readonly Step<Known>[] {
  const proposed = context.config.connectionString();
  const problem = (text: string) => (text.trim() === '' ? l10n.t('Must not be empty') : undefined);
  return [
    {
      applies: () => pooledHost(compute) !== undefined,
      ask: async (page, known) =>
        answered(await chooseHost(page, compute), (pooled) => ({ ...known, pooled })),
    },
    {
      ask: async (page, known) => {
        const question = { prompt: l10n.t('Role'), value: proposed.role, problem };
        return answered(await askText(page, question), (role) => ({ ...known, role }));
      },
    },
    {
      ask: async (page, known) => {
        const question = { prompt: l10n.t('Database'), value: proposed.database, problem };
        return answered(await askText(page, question), (database) => ({ ...known, database }));
      },
    },
  ];
}
