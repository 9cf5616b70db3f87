import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { onPlatform } from '../helpers/onPlatform.ts';
import { planFor } from '../steps.ts';

describe('The plan of npm run test:all', () => {
  const namesOn = async (platform: NodeJS.Platform, isSkipped: boolean) => {
    let names: string[] = [];
    await onPlatform(platform, () => {
      const steps = planFor('test', 'beyond').flat();
      names = steps.filter((step) => (step.isSkipped === true) === isSkipped).map(({ name }) => name);
    });
    return names;
  };
  const all = [
    'install',
    'build',
    'shared',
    'unit',
    'through the UI',
    'real',
    'lint',
    'imports',
    'format',
    'manifest',
    'other windows',
    'soak',
    'more service',
    'own windows',
    'more clients',
    'inside VS Code',
    'packages',
    'more unit',
    'types',
  ];

  it('is complete on Linux, and on macOS but for what reads /proc', async () => {
    assert.deepEqual(await namesOn('linux', false), all);
    assert.deepEqual(await namesOn('darwin', true), ['soak']);
  });

  it('leaves out on Windows what needs Unix', async () => {
    const skipped = [
      'install',
      'shared',
      'through the UI',
      'other windows',
      'soak',
      'own windows',
      'inside VS Code',
      'packages',
    ];
    assert.deepEqual(await namesOn('win32', true), skipped);
    assert.deepEqual(
      await namesOn('win32', false),
      all.filter((name) => !skipped.includes(name)),
    );
  });

  it('runs most suites of the local service on Windows, with Postgres, and counts the others', async () => {
    const suitesOf = () =>
      planFor('real')
        .flat()
        .map(({ command }) => command.filter((part) => part.endsWith('.test.ts')).length);
    let all: number[] = [];
    await onPlatform('linux', () => (all = suitesOf()));
    await onPlatform('win32', () => {
      const left = planFor('real')
        .flat()
        .map(({ leftOut = '' }) =>
          Number(/^(\d+) suites need signals \(\d+\), file modes and links/.exec(leftOut)?.[1]),
        );
      const counts = suitesOf();
      assert.deepEqual(
        counts.map((count, index) => count + (left[index] ?? 0)),
        all,
      );
      assert.ok(counts.reduce((sum, count) => sum + count, 0) > 45, counts.join());
    });
  });

  it('says why, and runs only suites that exist', async () => {
    await onPlatform('win32', () => {
      for (const step of planFor('test', 'beyond').flat()) {
        if (step.isSkipped === true) assert.match(step.leftOut ?? '', /\w/, step.name);
        const files = step.command.filter((part) => path.isAbsolute(part) && part.endsWith('.test.ts'));
        assert.deepEqual(
          files.filter((file) => !existsSync(file)),
          [],
        );
      }
    });
  });
});
