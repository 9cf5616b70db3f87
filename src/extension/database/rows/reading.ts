/** All that reads rows, to be loaded at once with the driver of Postgres, which most windows never need. */
export { COMPARE_SECONDS, compareRows, NoTableError } from './compareRows.ts';
export { listTables, readColumns, readObjects } from './readCatalog.ts';
export { peekRows, READ_SECONDS } from './readRows.ts';
