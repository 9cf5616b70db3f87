/** The account of a new service: what a small company might have. */
import type { Plan } from '../../api/records/sizes.ts';
import { AccountDescription } from './projectsFile.ts';

/** A range of sizes, in CU. */
const size = (min: number, max: number) => ({ autoscaling_limit_min_cu: min, autoscaling_limit_max_cu: max });

const SAMPLE_ACCOUNT: AccountDescription = {
  projects: [
    {
      id: 'shiny-wind-028834',
      name: 'shop',
      branches: [
        {
          id: 'br-aged-salad-637688',
          name: 'main',
          computes: [
            { id: 'ep-little-smoke-851426', type: 'read_write', current_state: 'active' },
            { id: 'ep-steep-forest-654321', type: 'read_only', ...size(0.25, 1) },
          ],
        },
        {
          id: 'br-sweet-breeze-497520',
          name: 'checkout-rewrite',
          computes: [
            {
              id: 'ep-purple-water-204912',
              type: 'read_write',
              ...size(0.5, 2),
              suspend_timeout_seconds: 3600,
            },
          ],
        },
        { id: 'br-frosty-lake-110382', name: 'before-migration' },
      ],
    },
    {
      id: 'quiet-sunset-771503',
      name: 'analytics',
      branches: [
        {
          id: 'br-wispy-meadow-403718',
          name: 'main',
          computes: [
            {
              id: 'ep-bold-thunder-385207',
              type: 'read_write',
              ...size(1, 4),
              settings: { pg_settings: { work_mem: '16MB' } },
              current_state: 'active',
            },
            { id: 'ep-silent-river-918264', type: 'read_only', name: 'dashboards', ...size(1, 1) },
            { id: 'ep-old-paper-557019', type: 'read_only', disabled: true },
          ],
        },
      ],
    },
    {
      id: 'calm-poetry-195246',
      name: 'playground',
      branches: [
        {
          id: 'br-tiny-cloud-862093',
          name: 'main',
          computes: [{ id: 'ep-green-hat-340975', type: 'read_write' }],
        },
        {
          id: 'br-young-moon-279461',
          name: 'ideas',
          computes: [{ id: 'ep-plain-field-520137', type: 'read_only' }],
        },
      ],
    },
  ],
  api_keys: [{ name: 'laptop' }, { name: 'deployment' }, { name: 'nightly reports' }],
};

/** On the free plan, all computes have the default size, since the plan does not allow larger ones. */
export function sampleAccount(plan: Plan): AccountDescription {
  if (plan === 'paid') return SAMPLE_ACCOUNT;
  const withoutSizes = (name: string, value: unknown) =>
    name.startsWith('autoscaling_limit') ? undefined : value;
  return AccountDescription.parse(JSON.parse(JSON.stringify(SAMPLE_ACCOUNT, withoutSizes)));
}
