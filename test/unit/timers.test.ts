/** `docs/timers.md` against the source and the tests. */
import assert from 'node:assert/strict';
import { projectFiles, readText } from '../helpers/projectFiles.ts';

/** Calls that wait, options that limit a wait, and lifetimes. */
const TIMER = new RegExp(
  [
    /\bset(?:Timeout|Interval)\(/,
    /\.after\([\w -]+, |\b(?:callEvery|delay)\(clock, |new Poller\(/,
    /AbortSignal\.timeout\(|\b(?:sleep|pause)\([\w$]|Atomics\.wait\(\w+, 0, 0, |withTimeLimit\(/,
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

/** Pauses between attempts, a limit that ends a hang, and PgBouncer's own timer: no suite waits for them. */
const UNSEEN = [
  'src/base/changeFile.ts',
  'src/base/replaceFile.ts',
  'src/npm/library/beginning.ts',
  'src/npm/library/parents.ts',
  'src/service/postgres/network/pooler.ts',
];

/** A suite without any of these words sees no timer. */
const TIME = /clock|timer|timeout|second|minute|hour|expir|\d ms\b/i;

describe('docs/timers.md', () => {
  const listed = [...readText('docs/timers.md').matchAll(/\(\.\.\/(src\/[^)]+)\)/g)].map(
    ([, file = '']) => file,
  );

  it('has each source file with a timer, and only files that exist', () => {
    const sources = projectFiles('src');
    const files = sources.filter((file) => /\.m?ts$/.test(file) && TIMER.test(readText(file)));
    assert(files.length > 40, 'the expression finds timers');
    assert.deepEqual(
      files.filter((file) => !NO_TIMERS.includes(file) && !listed.includes(file)),
      [],
    );
    assert.deepEqual(
      listed.filter((file) => !sources.includes(file)),
      [],
    );
  });

  it('has only files with a suite that deals with time: one of their path, or one that names them as `Timers:`', () => {
    const suites = projectFiles('test').filter((file) => file.endsWith('.test.ts'));
    const timed = suites.filter((file) => TIME.test(readText(file).replace(FIRST_COMMENT, '')));
    const named = timed.flatMap((suite) => {
      const [comment = ''] = FIRST_COMMENT.exec(readText(suite)) ?? [];
      return [...(/Timers: ([^]*?)\.\s*\*/.exec(comment)?.[1]?.matchAll(/[\w/]+\.ts/g) ?? [])].map(String);
    });
    const hasSuite = (file: string) =>
      named.includes(file.slice('src/'.length)) ||
      ['unit', 'real'].some((kind) =>
        timed.includes(file.replace(/^src/, `test/${kind}`).replace(/\.ts$/, '.test.ts')),
      );
    assert.deepEqual([...new Set(listed)].filter((file) => !hasSuite(file)).toSorted(), UNSEEN);
    assert.deepEqual(
      named.filter((file) => !listed.includes(`src/${file}`)),
      [],
    );
  });
});

const FIRST_COMMENT = /^\/\*\*[^]*?\*\//;
