/** Accounts of any size, in the form that the local service takes by `--projects`. */
export interface AccountSize {
  readonly projects: number;
  readonly computesPerProject: number;
}

export const projectId = (index: number): string => `project-${index}`;
export const computeId = (project: number, index: number): string => `ep-${project}-${index}`;

/** Every project has one branch with a primary and read replicas. */
export function account({ projects, computesPerProject }: AccountSize): object {
  return {
    projects: Array.from({ length: projects }, (_, project) => ({
      id: projectId(project),
      name: `project ${project}`,
      branches: [
        {
          id: `br-${project}`,
          computes: Array.from({ length: computesPerProject }, (_, index) => ({
            id: computeId(project, index),
            type: index === 0 ? 'read_write' : 'read_only',
            name: `compute ${index}`,
          })),
        },
      ],
    })),
  };
}
