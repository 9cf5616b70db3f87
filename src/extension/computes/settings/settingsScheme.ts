/** The URI scheme of settings documents. This file is separate, because it is needed at activation. */
export const SETTINGS_SCHEME = 'hosted-postgres-settings';
