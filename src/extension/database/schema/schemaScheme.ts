/** The URI scheme of schema documents. In a separate file, because it is needed at activation. */
export const SCHEMA_SCHEME = 'hosted-postgres-schema';
