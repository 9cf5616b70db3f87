/** Generates accounts of any size: as a file for the local service, and as records like the public service's. */
export interface AccountSize {
  readonly projects: number;
  readonly computesPerProject: number;
}

export interface ComputeState {
  readonly current_state: string;
  readonly pending_state?: string;
}

export const projectId = (index: number): string => `project-${index}`;
export const computeId = (project: number, index: number): string => `ep-${project}-${index}`;
/** A UUID that contains the indexes of the operation's compute. */
export const operationId = (project: number, index: number): string =>
  `00000000-0000-4000-8000-${`${project}`.padStart(6, '0')}${`${index}`.padStart(6, '0')}`;

/** Returns the content of a file for `--projects`. Every project has one branch with a primary and read replicas. */
export function projectsFile({ projects, computesPerProject }: AccountSize): string {
  const computes = (project: number) =>
    Array.from({ length: computesPerProject }, (_, index) => ({
      id: computeId(project, index),
      type: index === 0 ? 'read_write' : 'read_only',
      name: `compute ${index}`,
    }));
  return JSON.stringify({
    projects: Array.from({ length: projects }, (_, project) => ({
      id: projectId(project),
      name: `project ${project}`,
      branches: [{ id: `br-${project}`, computes: computes(project) }],
    })),
  });
}

export const projectRecord = (index: number) => ({
  id: projectId(index),
  name: `project ${index}`,
  platform_id: 'aws',
  region_id: 'aws-eu-central-1',
  provisioner: 'k8s-pod',
  pg_version: 17,
  cpu_used_sec: 1_234 + index,
  locked: false,
  branch_logical_size_limit: 204_800,
  proxy_host: 'eu-central-1.aws.example.com',
  created_at: '2026-01-05T09:00:00Z',
  updated_at: '2026-03-05T09:00:00Z',
});

export const computeRecord = (project: number, index: number, state: ComputeState) => ({
  id: computeId(project, index),
  host: `${computeId(project, index)}.eu-central-1.aws.example.com`,
  project_id: projectId(project),
  branch_id: `br-${project}-${Math.floor(index / 10)}`,
  type: index % 10 === 0 ? 'read_write' : 'read_only',
  ...state,
  name: `compute ${index}`,
  region_id: 'aws-eu-central-1',
  autoscaling_limit_min_cu: 0.25,
  autoscaling_limit_max_cu: 2,
  suspend_timeout_seconds: 300,
  settings: { pg_settings: { work_mem: '4MB', statement_timeout: 10_000 } },
  pooler_enabled: false,
  pooler_mode: 'transaction',
  disabled: false,
  passwordless_access: true,
  last_active: '2026-03-05T08:00:00Z',
  created_at: '2026-01-05T09:00:00Z',
  updated_at: '2026-03-05T09:00:00Z',
  proxy_host: 'eu-central-1.aws.example.com',
});

export const operationRecord = (id: string, project: number, index: number, status: string) => ({
  id,
  project_id: projectId(project),
  branch_id: `br-${project}-${Math.floor(index / 10)}`,
  endpoint_id: computeId(project, index),
  action: 'start_compute',
  status,
  failures_count: 0,
  created_at: '2026-03-05T09:00:00Z',
  updated_at: '2026-03-05T09:00:00Z',
});
