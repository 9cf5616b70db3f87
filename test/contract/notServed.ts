/** Calls of the public service that the local service doesn't have, and why. */

export interface NotServed {
  /** The end of a call, such as `GET /projects/{project_id}/snapshots`. */
  readonly call: RegExp;
  readonly because: string;
  /** A daily command of the public command line sends it, and does without it. */
  readonly isDaily?: boolean;
}

export const NOT_SERVED: readonly NotServed[] = [
  {
    call: /^GET \/projects\/.*\/(?:buckets|functions|credentials|auth|data-api\/\{database_name\})$/,
    because: 'services of the cloud next to Postgres, which `checkout`, `env pull` and `status` ask for',
    isDaily: true,
  },
  {
    call: /^\w+ \/projects\/(?:.*\/)?(?:auth|buckets|functions|credentials|data-api|triggers|custom-domains|storage|ai_gateway|logs|jwks)(?:\/|$)/,
    because: 'services of the cloud next to Postgres, and their users, keys and logs',
  },
  {
    call: /\/backup_schedule$/,
    because: 'snapshots are created by calls, and the service runs only while it is used',
  },
  {
    call: /\/(?:branch_anonymized|anonymize|anonymized_status|masking_rules)$/,
    because: 'needs an extension of the public service',
  },
  {
    call: /\/(?:vpc_endpoints|billing|invitations|permissions|transfer_requests|transfer)(?:\/|$)/,
    because: 'there is one account, one organization and one network: this machine',
  },
  {
    call: /^\w+ \/(?:organizations|projects)\/.*\/(?:members\/.*|api_keys.*)$|^GET \/projects\/.*\/members$/,
    because: 'there is one account and one organization, which has its keys',
  },
  { call: /^GET \/consumption_history\//, because: 'usage is shown with projects and branches' },
  { call: /\/(?:advisors|available_preload_libraries)$/, because: 'needs the public service' },
];
