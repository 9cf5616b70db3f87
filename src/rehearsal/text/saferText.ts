import type { Translator } from '../../base/translator.ts';
import type { SaferForm } from '../saferForms.ts';

/** Says what to do instead of a dangerous statement, and why. */
export function saferText(form: SaferForm, l10n: Translator): string {
  switch (form) {
    case 'concurrentIndex':
      return l10n.t('Use CREATE INDEX CONCURRENTLY outside of a transaction: others can write.');
    case 'partitionIndexes':
      return l10n.t(
        'Use CREATE INDEX ON ONLY, then CREATE INDEX CONCURRENTLY and ATTACH PARTITION for each partition: others can write.',
      );
    case 'concurrentReindex':
      return l10n.t('Use REINDEX CONCURRENTLY outside of a transaction: others can read and write.');
    case 'concurrentRefresh':
      return l10n.t(
        'Use REFRESH MATERIALIZED VIEW CONCURRENTLY, which needs a unique index: others can read.',
      );
    case 'notValid':
      return l10n.t(
        'Add the constraint as NOT VALID, and use VALIDATE CONSTRAINT in the next transaction: others can write while rows are checked.',
      );
    case 'uniqueIndex':
      return l10n.t(
        'Use CREATE UNIQUE INDEX CONCURRENTLY, then ADD CONSTRAINT USING INDEX: others can write while the index is built.',
      );
    case 'checkedNotNull':
      return l10n.t(
        'Add CHECK (… IS NOT NULL) as NOT VALID, use VALIDATE CONSTRAINT in the next transaction, then SET NOT NULL, which reads no rows.',
      );
    case 'domainColumn':
      return l10n.t(
        'Add the column with the base type, and its check as NOT VALID: a domain with a check rewrites all rows.',
      );
    case 'filledColumn':
      return l10n.t(
        'Add the column without a default, set the default, then fill rows in batches: a volatile default rewrites all rows.',
      );
    case 'typeInSteps':
      return l10n.t(
        'Add a column of the new type, fill it in batches, then swap the names: changing the type rewrites all rows.',
      );
    case 'batches':
      return l10n.t(
        'Change rows in batches, each in its own transaction: others wait until the transaction ends.',
      );
    case 'ownTransaction':
      return l10n.t('Commit after this statement: others wait until the end of its transaction.');
    case 'renameInSteps':
      return l10n.t(
        'Add the new name, and keep the old one until nothing needs it: a function still uses it.',
      );
  }
}
