/** Of the documents with schemas. In a separate file, because the extension needs it at activation. */
export const SCHEMA_SCHEME = 'hosted-postgres-schema';
