/** The URI scheme of documents with rows. In a separate file, because it is needed at activation. */
export const ROWS_SCHEME = 'hosted-postgres-rows';
