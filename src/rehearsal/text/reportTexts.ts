/** The sentences of a report. In each language, a report has the same sentences with the same numbers. */
import type { RehearsedStatement } from '../../api/records/rehearsal.ts';
import { shortLine } from '../../base/shortLine.ts';
import { bytesText, unitText, type Translator } from '../../base/translator.ts';
import type { BlockedTable } from '../blockedTables.ts';
import type { DataLoss } from '../losses.ts';
import { lastStatementError, reasonStatements, type FileVerdict } from '../reasonStatement.ts';
import type { RehearsalReport } from '../report.ts';
import type { SaferStatement } from '../saferForms.ts';
import type { BrokenRelation } from '../trials.ts';
import type { VerdictReason } from '../verdict.ts';
import { saferText } from './saferText.ts';

/** The most characters of a statement, and of a schema, in a sentence. */
const [MAX_STATEMENT, MAX_SCHEMA] = [100, 200];
/** The most places that a sentence lists. */
const MAX_PLACES = 3;

/** Writes the sentences of a report in one language. */
export class ReportTexts {
  readonly #l10n: Translator;

  constructor(l10n: Translator) {
    this.#l10n = l10n;
  }

  /**
   * Returns a sentence for each reason why the migration isn't safe. If it is safe, a sentence says so, and another one quotes the
   * last error of Postgres, if there was one. Further sentences say what was skipped.
   */
  verdictSentences(report: RehearsalReport): readonly string[] {
    const { reasons } = report;
    const sentences =
      reasons.length === 0
        ? [this.#safeSentence(report), ...this.#refusedSentences(report)]
        : reasons.map(
            (reason) => this.reasonSentence(reason) + this.#placesText(reasonStatements(report, reason)),
          );
    return [...sentences, ...this.#skipSentences(report)];
  }

  fileVerdict({ file, verdict }: FileVerdict): string {
    const l10n = this.#l10n;
    const text = {
      safe: l10n.t('safe'),
      dangerous: l10n.t('dangerous'),
      failed: l10n.t('failed'),
      'not run': l10n.t('not run'),
      unclear: l10n.t('unclear'),
    }[verdict];
    return `${file}: ${text}`;
  }

  /** Returns who waits for the statement with this index, such as `reads and writes of public.orders: up to 4.1 sec`. */
  waitTexts(blocked: readonly BlockedTable[], index: number): string[] {
    return blocked.filter(({ statements }) => statements.includes(index)).map((each) => this.waitText(each));
  }

  waitText({ table, blocks, rows, milliseconds }: BlockedTable): string {
    const l10n = this.#l10n;
    const time = this.duration(milliseconds);
    if (rows !== undefined) return l10n.t('writes of the same rows of {0}: up to {1}', table, time);
    switch (blocks) {
      case 'reads':
        return l10n.t('reads and writes of {0}: up to {1}', table, time);
      case 'writes':
        return l10n.t('writes of {0}: up to {1}', table, time);
      case 'changes of its definition':
        return l10n.t('changes of the definition of {0}: up to {1}', table, time);
    }
  }

  /** Returns what to do instead of the statement with this index, if it was dangerous, once for all its reasons. */
  saferTexts(safer: readonly SaferStatement[], index: number): string[] {
    const forms = safer.flatMap(({ statement, form }) => (statement === index ? [form] : []));
    return [...new Set(forms)].map((form) => saferText(form, this.#l10n));
  }

  /** Returns what the rehearsal couldn't observe, protect or compare exactly on the copies. */
  copyNotes({ sampled, sharedRoles, emptied, isComparedWithLater }: RehearsalReport): readonly string[] {
    const later = this.#l10n.t(
      "The branch couldn't be copied as it was before the command, so the comparison is with its data afterwards: others' changes in the meantime count as well.",
    );
    const unlogged = this.#l10n.t(
      "The copy has no rows of {0}, maybe because rows of unlogged tables aren't copied: what is lost or locked there isn't known.",
      emptied.join(', '),
    );
    const unseen = this.#l10n.t(
      "Statements and locks were read through a second connection, because this service doesn't show them. Those shorter than {0} may be missing, and so may results and what was done in other databases.",
      this.duration(sampled ?? 0),
    );
    return [
      ...(isComparedWithLater ? [later] : []),
      ...(emptied.length > 0 ? [unlogged] : []),
      ...(sampled === undefined ? [] : [unseen]),
      ...sharedRoles.map((name) =>
        this.#l10n.t('On the copy, the role {0} had the same password as on the branch.', name),
      ),
    ];
  }

  /** Returns what trials couldn't find out, and why. */
  trialNotes({ tried: { tooSlow, outside } }: RehearsalReport): readonly string[] {
    const l10n = this.#l10n;
    return [
      ...tooSlow.map((name) => l10n.t("Whether {0} still works isn't known, as it takes too long.", name)),
      ...outside.map((name) =>
        l10n.t(
          "Triggers and views weren't tried, because they may reach outside of the database with {0}.",
          name,
        ),
      ),
    ];
  }

  /** Returns what the way back leaves in tables. */
  wayBackNotes({ wayBack }: RehearsalReport): readonly string[] {
    return (wayBack?.added ?? []).map(({ table, count }) =>
      this.#l10n.t('Rows that the way back leaves in {0}: {1}', table, this.#number(count)),
    );
  }

  /** Returns for how long Undo is the only way back, if something is lost and no down step is known. */
  undoNotes({ undoSeconds }: RehearsalReport): readonly string[] {
    if (undoSeconds === undefined) return [];
    if (undoSeconds === 0) return [this.#l10n.t('There is no known way back.')];
    const time = this.#inUnit(Math.floor(undoSeconds / 3600), 'hour', { digits: 0 });
    return [this.#l10n.t('The only known way back is Undo, within {0}.', time)];
  }

  duration(milliseconds: number): string {
    return milliseconds < 1000
      ? this.#inUnit(Math.max(1, Math.round(milliseconds)), 'millisecond', { digits: 0 })
      : this.#inUnit(milliseconds / 1000, 'second', { digits: 1 });
  }

  /** Returns the names of tables, each with its size. */
  rewrittenTables({ rewritten }: RehearsalReport): readonly string[] {
    return rewritten.map(({ table, bytes }) => `${table} (${bytesText(this.#l10n.language, bytes)})`);
  }

  #safeSentence({ statements, blocked: [longest] }: RehearsalReport): string {
    const l10n = this.#l10n;
    const count =
      statements.length === 1 ? l10n.t('1 statement') : l10n.t('{0} statements', statements.length);
    const time = this.duration(statements.reduce((sum, { milliseconds }) => sum + milliseconds, 0));
    if (longest === undefined)
      return l10n.t('Safe: {0}, {1}, no lock that others would notice.', count, time);
    return l10n.t(
      'Safe: {0}, {1}, others wait {2} at most.',
      count,
      time,
      this.duration(longest.milliseconds),
    );
  }

  /**
   * Returns the last error of Postgres, if there was one. It isn't a failure, because a tool may send statements that it expects to
   * fail.
   */
  #refusedSentences({ statements }: RehearsalReport): string[] {
    const { statement: { text = '', error } = {} } = lastStatementError(statements);
    if (error === undefined) return [];
    return [
      this.#l10n.t(
        'Postgres refused “{0}”, and the command continued: {1}',
        shortLine(text, MAX_STATEMENT),
        error.message,
      ),
    ];
  }

  /** Returns the place of one statement, or the places of those that may be meant; only the file if there are too many. */
  #placesText(statements: readonly RehearsedStatement[]): string {
    const texts = [...new Set(statements.map((each) => placeText(each)))];
    const [only = ''] = texts;
    if (texts.length <= 1) return only;
    const names = texts.map((text) => text.slice(' ('.length, -')'.length));
    if (names.includes('')) return '';
    if (names.length <= MAX_PLACES) return ` (${this.#l10n.t('one or more of {0}', names.join(', '))})`;
    const [file, another] = new Set(statements.map(({ place }) => place?.file));
    return file === undefined || another !== undefined ? '' : ` (${file})`;
  }

  #skipSentences({ skipped }: RehearsalReport): string[] {
    return skipped.map(
      ({ text, reason, file, line }) =>
        this.#l10n.t(
          'Skipped “{0}”, because only a superuser may run it here: {1}',
          shortLine(text, MAX_STATEMENT),
          reason,
        ) + placeText({ place: { file, line } }),
    );
  }

  /** Returns why a migration isn't safe, without the place of its statement. */
  reasonSentence(reason: VerdictReason): string {
    const l10n = this.#l10n;
    switch (reason.kind) {
      case 'failed':
        return this.#failureSentence(reason);
      case 'incomplete':
        return l10n.t('Incomplete: {0}', reason.problem);
      case 'unused':
        return l10n.t(
          'Nothing was rehearsed: no statement reached the copy. The command must connect to DATABASE_URL.',
        );
      case 'uncommitted':
        return l10n.t(
          "Isn't committed: a connection ends after “{0}” without COMMIT, so its transaction is rolled back.",
          shortLine(reason.statement.text, MAX_STATEMENT),
        );
      case 'loss':
        return this.#lossSentence(reason.loss);
      case 'broken':
        return this.#brokenSentence(reason.broken);
      case 'blocked':
        return this.#blockSentence(reason.blocked);
      case 'forgotten':
        return l10n.t(
          "Doesn't restore this part of the schema: {0}",
          shortLine(reason.lines.join(' '), MAX_SCHEMA),
        );
      case 'wayBack':
        return l10n.t('Way back: {0}', this.reasonSentence(reason.reason));
    }
  }

  #failureSentence({ exitCode, statement, hasGoneOn }: Extract<VerdictReason, { kind: 'failed' }>): string {
    const l10n = this.#l10n;
    if (statement?.error === undefined) return l10n.t('Fails: the command ended with code {0}.', exitCode);
    const { message, detail } = statement.error;
    const quoted = shortLine(statement.text, MAX_STATEMENT);
    const text = hasGoneOn
      ? l10n.t(
          'Fails: the command ended with code {0}. The last error of Postgres was at “{1}”: {2}',
          exitCode,
          quoted,
          message,
        )
      : l10n.t('Fails at “{0}”: {1}', quoted, message);
    return detail === undefined ? text : `${text}. ${detail}`;
  }

  #brokenSentence({ does, name, error }: BrokenRelation): string {
    const l10n = this.#l10n;
    switch (does) {
      case 'reads':
        return l10n.t('Breaks reads of {0}: {1}', name, error);
      case 'refreshes':
        return l10n.t('Breaks refreshes of {0}: {1}', name, error);
      case 'updates':
        return l10n.t('Breaks updates of {0}: {1}', name, error);
      case 'deletes or inserts':
        return l10n.t('Breaks deletes or inserts of {0}: {1}', name, error);
    }
  }

  #lossSentence({ name, kind, count, types }: DataLoss): string {
    const l10n = this.#l10n;
    const number = this.#number(count);
    if (kind === 'unlogged')
      return l10n.t("May lose data of {0}: what an unlogged table loses can't be counted.", name);
    if (kind === 'type')
      return types === undefined
        ? l10n.t('Changes values of {0}.', name)
        : l10n.t('Changes values of {0}: {1}.', name, types);
    if (kind === 'rows')
      return count === 1
        ? l10n.t('Loses 1 row of {0}.', name)
        : l10n.t('Loses {0} rows of {1}.', number, name);
    return count === 1
      ? l10n.t('Loses 1 value of {0}.', name)
      : l10n.t('Loses {0} values of {1}.', number, name);
  }

  #blockSentence({ table, blocks, rows, milliseconds }: BlockedTable): string {
    const l10n = this.#l10n;
    const time = this.duration(milliseconds);
    if (rows === 1) return l10n.t('Blocks writes of 1 row of {0} for {1}.', table, time);
    if (rows !== undefined)
      return l10n.t('Blocks writes of {0} rows of {1} for {2}.', this.#number(rows), table, time);
    return blocks === 'reads'
      ? l10n.t('Blocks all reads and writes of {0} for {1}.', table, time)
      : l10n.t('Blocks all writes of {0} for {1}.', table, time);
  }

  #number(value: number): string {
    return value.toLocaleString(this.#l10n.language);
  }

  /** @param options `digits`: the most digits after the decimal point */
  #inUnit(value: number, unit: string, { digits }: { readonly digits: number }): string {
    return unitText(this.#l10n.language, value, unit, { maximumFractionDigits: digits });
  }
}

/** Returns text such as ` (0007_unique.sql:12)`. */
export const placeText = (statement: Pick<RehearsedStatement, 'place'> | undefined): string =>
  statement?.place === undefined ? '' : ` (${statement.place.file}:${statement.place.line})`;
