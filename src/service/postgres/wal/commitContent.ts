/** Reads which transactions a commit ends. The format is that of src/include/access/xact.h. */

const HAS_INFO = 0x80;
/** Flags for what the record contains, in the order of the contents. */
const [DATABASE, SUBTRANSACTIONS, FILES, STATISTICS, INVALIDATIONS, PREPARED] = [1, 2, 4, 0x100, 8, 0x10];

/**
 * Returns the ids of the transaction that a commit record ends (for COMMIT PREPARED, the prepared one), and of its subtransactions
 * that have ids.
 * @param main the main data of the record
 * @param major version of Postgres
 */
export function committedTransactionIds(
  { xid, info, main }: { readonly xid: number; readonly info: number; readonly main: Buffer },
  major: number,
): readonly number[] {
  if ((info & HAS_INFO) === 0) return [xid];
  const contains = main.readUInt32LE(8);
  let at = 12;
  if ((contains & DATABASE) !== 0) at += 8;
  const subtransactions: number[] = [];
  const skipItems = (flag: number, size: number) => {
    if ((contains & flag) !== 0) at += 4 + main.readInt32LE(at) * size;
  };
  if ((contains & SUBTRANSACTIONS) !== 0) {
    const end = at + 4 + main.readInt32LE(at) * 4;
    for (at += 4; at < end; at += 4) subtransactions.push(main.readUInt32LE(at));
  }
  skipItems(FILES, 12);
  skipItems(STATISTICS, major >= 18 ? 16 : 12);
  skipItems(INVALIDATIONS, 16);
  return [(contains & PREPARED) === 0 ? xid : main.readUInt32LE(at), ...subtransactions];
}
