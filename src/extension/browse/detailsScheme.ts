/** The URI scheme of documents with details. This file is separate, because it is needed at activation. */
export const DETAILS_SCHEME = 'hosted-postgres-details';
/** The URI scheme of documents with operations. */
export const OPERATIONS_SCHEME = 'hosted-postgres-operations';
