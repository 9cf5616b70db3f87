/** The public service's calls about the account itself. The local account has one user, one organization and one region. */
import { sizesOf } from '../../api/records/sizes.ts';
import type { ControlPlane } from '../controlPlane/controlPlane.ts';
import { LOCAL_USER } from '../state/storedRecords.ts';
import { paginate, PROJECT_PAGES } from './query.ts';
import type { ApiCall, Routes } from './request.ts';
import { reply, type JsonReply } from './response.ts';

export const userRoutes = (plane: ControlPlane): Routes => ({
  'GET /auth': () => reply(AUTHENTICATION),
  'GET /users/me': () => reply(currentUser(plane)),
  'GET /users/me/organizations': () => reply({ organizations: [organization(plane)] }),
  'GET /regions': () => reply({ regions: [LOCAL_REGION] }),
  'GET /projects/shared': listSharedProjects,
});

const AUTHENTICATION = { account_id: LOCAL_USER.id, auth_method: 'api_key_user' } as const;

/** The public service has empty coordinates for unknown locations too. */
const LOCAL_REGION = {
  region_id: 'local',
  name: 'This machine',
  default: true,
  geo_lat: '',
  geo_long: '',
} as const;

/** The service limits none of them. Clients compare their numbers with it. */
const UNLIMITED = 2 ** 31 - 1;

/** Clients that know no personal accounts list the projects of an organization. Its id is accepted and ignored. */
const organization = ({ plan }: ControlPlane) => ({
  id: 'org-local',
  name: LOCAL_USER.name,
  handle: 'local',
  plan,
  managed_by: 'console',
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
});

const CREATED_AT = '2000-01-01T00:00:00Z';

const currentUser = ({ plan }: ControlPlane) => ({
  ...LOCAL_USER,
  auth_accounts: [],
  plan,
  projects_limit: UNLIMITED,
  branches_limit: UNLIMITED,
  active_seconds_limit: UNLIMITED,
  max_autoscaling_limit: sizesOf(plan).at(-1)?.cu ?? UNLIMITED,
});

/** No other account can share a project with this one. */
const listSharedProjects = (call: ApiCall): JsonReply =>
  reply({ projects: paginate(call, [], PROJECT_PAGES).records });
