/** The account's only user, who owns its projects and keys. The same in every local service. */
export const LOCAL_USER = {
  id: '00000000-0000-4000-8000-000000000001',
  login: 'local',
  name: 'Local',
  last_name: 'User',
  email: 'local.user@hosted-postgres.invalid',
  image: '',
} as const;
