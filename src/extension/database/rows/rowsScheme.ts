/** The URI scheme of documents with rows. This file is separate, because it is needed at activation. */
export const ROWS_SCHEME = 'hosted-postgres-rows';
