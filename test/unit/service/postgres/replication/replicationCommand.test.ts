import assert from 'node:assert/strict';
import { ClientRefusal } from '../../../../../src/service/postgres/network/refusal.ts';
import { readReplicationCommand } from '../../../../../src/service/postgres/replication/replicationCommand.ts';
import fc from '../../../../helpers/fastCheck.ts';

const textOf = (sql: string) => readReplicationCommand(sql)?.text;
const isRefused = (sql: string) => {
  try {
    readReplicationCommand(sql);
    return false;
  } catch (error) {
    return error instanceof ClientRefusal;
  }
};

describe('readReplicationCommand', () => {
  it('reads what clients send, and writes it in one spelling', () => {
    for (const [sql, text] of [
      ['IDENTIFY_SYSTEM', 'IDENTIFY_SYSTEM'],
      [' identify_system ;\n', 'IDENTIFY_SYSTEM'],
      // postgres.js
      [
        'CREATE_REPLICATION_SLOT ab12 TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT',
        `CREATE_REPLICATION_SLOT "ab12" TEMPORARY LOGICAL "pgoutput" (SNAPSHOT 'nothing')`,
      ],
      // A subscription of Postgres 18, and its copy of a table
      [
        `CREATE_REPLICATION_SLOT "mine" LOGICAL pgoutput (SNAPSHOT 'nothing', FAILOVER false, TWO_PHASE true)`,
        `CREATE_REPLICATION_SLOT "mine" LOGICAL "pgoutput" (SNAPSHOT 'nothing', TWO_PHASE true)`,
      ],
      [
        `CREATE_REPLICATION_SLOT "mine" LOGICAL pgoutput (SNAPSHOT 'use')`,
        `CREATE_REPLICATION_SLOT "mine" LOGICAL "pgoutput" (SNAPSHOT 'export')`,
      ],
      [
        `START_REPLICATION SLOT "mine" LOGICAL 0/16B3748 (proto_version '4', streaming 'parallel', publication_names '"a","b''c"')`,
        `START_REPLICATION SLOT "mine" LOGICAL 0/16B3748 ("proto_version" '4', "streaming" 'parallel', "publication_names" '"a","b''c"')`,
      ],
      ['START_REPLICATION SLOT Mine LOGICAL 0/0', 'START_REPLICATION SLOT "mine" LOGICAL 0/0'],
      ['DROP_REPLICATION_SLOT "a""b" WAIT', 'DROP_REPLICATION_SLOT "a""b" WAIT'],
    ] as const)
      assert.equal(textOf(sql), text);
  });

  it('leaves SQL to the session', () => {
    for (const sql of [
      'select 1',
      'SHOW wal_level',
      '',
      ';',
      'constructor',
      '"base_backup"',
      'START_REPLICATION SLOT a LOGICAL 0/0 (a 1)',
      'IDENTIFY_SYSTEM -- and more',
      '\u00A0IDENTIFY_SYSTEM',
      "DROP_REPLICATION_SLOT 'a",
    ])
      assert.equal(readReplicationCommand(sql), undefined, sql);
  });

  it('refuses what is not logical replication of this database', () => {
    for (const sql of [
      'BASE_BACKUP',
      'base_backup (incremental)',
      'START_REPLICATION PHYSICAL 0/0',
      'START_REPLICATION SLOT a PHYSICAL 0/0',
      'CREATE_REPLICATION_SLOT a PHYSICAL',
      'CREATE_REPLICATION_SLOT a LOGICAL other',
      'CREATE_REPLICATION_SLOT a LOGICAL pgoutput (RESERVE_WAL)',
      'CREATE_REPLICATION_SLOT a LOGICAL pgoutput RESERVE_WAL',
      'CREATE_REPLICATION_SLOT a LOGICAL pgoutput (FAILOVER)',
      "CREATE_REPLICATION_SLOT a LOGICAL pgoutput (SNAPSHOT 'other')",
      'IDENTIFY_SYSTEM; BASE_BACKUP',
      'IDENTIFY_SYSTEM BASE_BACKUP',
      'DROP_REPLICATION_SLOT a; DROP_REPLICATION_SLOT b',
      'DROP_REPLICATION_SLOT',
    ])
      assert.ok(isRefused(sql), sql);
  });

  it('writes names and texts so that they end where they should', () => {
    const text = fc.string({ maxLength: 8 }).filter((value) => !value.includes('\0'));
    fc.assert(
      fc.property(
        text.filter((value) => value !== ''),
        text,
        text.filter((value) => value !== ''),
        (slot, value, option) => {
          const [name, quoted] = [
            (part: string) => `"${part.replaceAll('"', '""')}"`,
            (part: string) => `'${part.replaceAll("'", "''")}'`,
          ];
          const command = `START_REPLICATION SLOT ${name(slot)} LOGICAL 1/A (${name(option)} ${quoted(value)})`;
          assert.equal(textOf(command), command);
          assert.equal(textOf(textOf(command) ?? ''), command);
        },
      ),
    );
  });
});
