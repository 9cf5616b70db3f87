import { connectScripted } from './connectedModel.ts';
import { computeRecord } from './scriptedService.ts';

export type ShopInventory = Awaited<ReturnType<typeof connectShop>>;

/** Connects to one project with three computes on two branches. Tests change the replies before they load them. */
export async function connectShop() {
  const replies = {
    projects: [{ id: 'shop', name: 'Shop', region_id: 'eu' }] as unknown[],
    computes: [
      computeRecord('ep-main', { autoscaling_limit_min_cu: 0.25, autoscaling_limit_max_cu: 0.25 }),
      computeRecord('ep-read', { type: 'read_only', current_state: 'idle', name: 'reports' }),
      computeRecord('ep-dev', { branch_id: 'br-dev', current_state: 'init', pending_state: 'active' }),
    ] as unknown[],
    /** If undefined, the service doesn't list branches. */
    branches: undefined as unknown[] | undefined,
  };
  const store = await connectScripted((call) => {
    const { projects, computes, branches } = replies;
    if (call.endsWith('/branches')) return branches === undefined ? 404 : { branches };
    return call === 'GET /projects' ? { projects } : { endpoints: computes };
  });
  const load = async () => {
    await store.inventory.ensureProjects();
    await store.inventory.ensureComputes('shop');
  };
  return { store, replies, load };
}
