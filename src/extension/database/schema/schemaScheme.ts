/** The URI scheme of schema documents. This file is separate, because it is needed at activation. */
export const SCHEMA_SCHEME = 'hosted-postgres-schema';
