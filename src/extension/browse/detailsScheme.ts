/** The URI scheme of documents with details. In a separate file, because it is needed at activation. */
export const DETAILS_SCHEME = 'hosted-postgres-details';
/** The URI scheme of documents with operations. */
export const OPERATIONS_SCHEME = 'hosted-postgres-operations';
