/** Reads `global/pg_control`: whose data this is and where in the write-ahead log (WAL) it stands. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Size of a WAL segment in the data directories made here. */
export const WAL_SEGMENT_MB = 16;

const SEGMENT = BigInt(WAL_SEGMENT_MB * 1024 * 1024);
/** Segment names count within each 4 GB of log. */
const SEGMENTS_PER_FILE_ID = 0x1_0000_0000n / SEGMENT;

export interface ControlFile {
  readonly systemId: bigint;
  readonly timeline: number;
  /** Name of the segment that recovery begins in. */
  readonly firstSegment: string;
}

/** The fields read lie at the front and have had these places since Postgres 11. */
export function readControlFile(dataDir: string): ControlFile {
  const control = readFileSync(path.join(dataDir, 'global', 'pg_control'));
  const timeline = control.readUInt32LE(48);
  return {
    systemId: control.readBigUInt64LE(0),
    timeline,
    firstSegment: segmentName(timeline, control.readBigUInt64LE(40)),
  };
}

const hex = (value: bigint | number) => value.toString(16).toUpperCase().padStart(8, '0');

/** @param position a place in the log, in bytes from its beginning */
export function segmentName(timeline: number, position: bigint): string {
  const segment = position / SEGMENT;
  return hex(timeline) + hex(segment / SEGMENTS_PER_FILE_ID) + hex(segment % SEGMENTS_PER_FILE_ID);
}
