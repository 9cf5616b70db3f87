/** The client alone: the package's main module also loads its pool, and `pg-native` if the environment asks for it. */
declare module 'pg/lib/client.js' {
  export { Client as default } from 'pg';
}
