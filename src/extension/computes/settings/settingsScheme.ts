/** The URI scheme of settings documents. In a separate file, because it is needed at activation. */
export const SETTINGS_SCHEME = 'hosted-postgres-settings';
