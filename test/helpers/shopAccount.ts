/** A small account with known ids and names, for a local service to start with. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';

export const [shop, analytics] = ['shiny-wind-000001', 'quiet-sunset-000002'];
export const [mainBranch, rewriteBranch, emptyBranch] = [
  'br-aged-salad-000001',
  'br-sweet-breeze-000002',
  'br-frosty-lake-000003',
];
/** The main branch of `shop` has a primary named `primary` and a read replica named `reports`. */
export const [primary, reports, rewrite, dashboards] = [
  'ep-little-smoke-000001',
  'ep-steep-forest-000002',
  'ep-purple-water-000003',
  'ep-silent-river-000004',
];

/** Returns the options that make a service start with this account. */
export function shopAccount(folder: string): readonly string[] {
  const file = path.join(folder, 'projects.json');
  writeFileSync(file, JSON.stringify({ projects: PROJECTS }));
  return ['--projects', file];
}

const PROJECTS = [
  {
    id: shop,
    name: 'shop',
    branches: [
      {
        id: mainBranch,
        name: 'main',
        default: true,
        computes: [
          { id: primary, type: 'read_write', name: 'primary', pooler_enabled: true, current_state: 'idle' },
          { id: reports, type: 'read_only', name: 'reports', current_state: 'idle' },
        ],
      },
      {
        id: rewriteBranch,
        name: 'rewrite',
        computes: [{ id: rewrite, type: 'read_write', current_state: 'idle' }],
      },
      { id: emptyBranch, name: 'empty' },
    ],
  },
  {
    id: analytics,
    name: 'analytics',
    branches: [
      {
        id: 'br-wispy-meadow-000004',
        computes: [
          {
            id: dashboards,
            type: 'read_write',
            name: 'dashboards',
            autoscaling_limit_min_cu: 1,
            autoscaling_limit_max_cu: 4,
            current_state: 'idle',
          },
        ],
      },
    ],
  },
];
