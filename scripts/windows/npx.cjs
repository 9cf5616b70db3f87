// Runs the program of an installed package, as npx does, which isn't in the chroot.
const { spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const path = require('node:path');

const [name, ...args] = process.argv.slice(2);
let folder = process.cwd();
while (!existsSync(path.join(folder, 'node_modules', name))) {
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`${name} is not installed`);
  folder = parent;
}
const root = path.join(folder, 'node_modules', name);
const { bin } = require(path.join(root, 'package.json'));
const program = path.join(root, typeof bin === 'string' ? bin : bin[name]);
process.exitCode = spawnSync(process.execPath, [program, ...args], { stdio: 'inherit' }).status ?? 1;
