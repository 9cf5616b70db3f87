/** `docs/timers.md` against the source and the tests. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { projectFiles, readText } from '../helpers/projectFiles.ts';
import { projectRoot } from '../workbench/folders.ts';

/** Calls that wait, options that limit a wait, and lifetimes. */
const TIMER = new RegExp(
  [
    /\bset(?:Timeout|Interval)\(/,
    /\.after\([\w -]+, |\b(?:every|delay)\(clock, |new Poller\(/,
    /AbortSignal\.timeout\(|\b(?:sleep|pause)\([\w$]|Atomics\.wait\(\w+, 0, 0, |withLimit\(/,
    /\btimeout: |Timeout(?:Millis)?: |_(?:timeout|interval): ['`\dA-Z]|-timeout=\d|terminate_backend\(pid, \d/,
    /\b[A-Z_]*(?:LIFE|LIFETIME|GRACE|TO_LIVE|VALID_FOR|KEPT_FOR|_AFTER|_HOURS|_SECONDS) = [\d'(]/,
    /performance\.now\(\) [+>]|\bnow(?:\(\))? - [\w.#]+ |<= now\b|> [\w.#]*\bnow\(\)/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** Files of the clock itself, and of what shows times or writes how long something took. */
const NO_TIMERS = [
  'src/base/clock.ts',
  'src/service/core/serviceClock.ts',
  'src/extension/window/ui/timeText.ts',
  'src/extension/computes/whyActive.ts',
  'src/service/controlPlane/records/operationRecord.ts',
];

describe('docs/timers.md', () => {
  const rows = readText('docs/timers.md')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| what'));

  it('has each source file with a timer', () => {
    const isListed = (file: string) => rows.some((row) => row.includes(`(../${file})`));
    const files = projectFiles('src').filter((file) => /\.m?ts$/.test(file) && TIMER.test(readText(file)));
    assert(files.length > 40, 'the expression finds timers');
    assert.deepEqual(
      files.filter((file) => !NO_TIMERS.includes(file) && !isListed(file)),
      [],
    );
  });

  it('names only tests that exist, with a variable part as …', () => {
    const tests = rows.flatMap((row) => [...row.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)]);
    const isMissing = ([, title = '', file = '']: readonly string[]) =>
      !existsSync(path.join(projectRoot, file)) || !titlesIn(readText(file)).includes(title);
    assert.deepEqual(
      tests.filter(isMissing).map(([link]) => link),
      [],
    );
  });
});

const titlesIn = (text: string): string[] =>
  [...text.matchAll(/\bit\(\s*(['"`])(.+?)\1,/g)].map(([, , title = '']) =>
    title.replace(/\$\{[^}]*\}/g, '…'),
  );
