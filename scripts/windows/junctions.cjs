// Loaded before tests that run under Wine, which has no junctions: a copy whose files are hard links takes their place. A link of
// Unix would not do, because Node sees a folder in it, so removing the link would empty its target.
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const path = require('node:path');

/** Milliseconds. */
const LIMIT = 120_000;
const { symlinkSync } = fs;

/** A path as programs of Unix see it. */
const outside = (file) =>
  `${process.env.WINEPREFIX}/dosdevices/${path
    .resolve(file)
    .replaceAll('\\', '/')
    .replace(/^./, (drive) => drive.toLowerCase())}`;

fs.symlinkSync = (target, link, type) => {
  if (type !== 'junction') return symlinkSync(target, link, type);
  // `start` waits for no program of Unix, so the copy gets its name when it is complete.
  const command = 'cp -al "$0" "$1.part" && mv -T "$1.part" "$1"';
  const source = path.resolve(path.dirname(link), target);
  spawnSync('start.exe', ['/unix', '/bin/sh', '-c', command, outside(source), outside(link)]);
  for (const until = Date.now() + LIMIT; !fs.existsSync(link);) {
    if (Date.now() > until) throw new Error(`Could not copy ${source}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
};
syncBuiltinESMExports();
