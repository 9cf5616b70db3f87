// Finds a browser for the web workbench: an installed one, or else the headless Chromium of an npm package, which
// needs no package manager and no system library except the C library.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { cacheFolder } from './folders.ts';
import { installOnce } from './installOnce.ts';

interface Executable {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a headless browser. It ends with `close()`, or when this process ends. */
export async function launchBrowser(): Promise<Browser> {
  const executable = await findChromium();
  return chromium.launch({
    executablePath: executable.path,
    env: { ...process.env, ...executable.env },
    // The sandbox does not work for root or in a plain container, and the pages are our own.
    chromiumSandbox: false,
    // Animations cost much CPU time without a GPU.
    args: ['--disable-dev-shm-usage', '--font-render-hinting=none', '--force-prefers-reduced-motion'],
  });
}

/** Finds the browser, or unpacks it if it is missing. */
export async function findChromium(): Promise<Executable> {
  const installed = findInstalled();
  if (installed !== undefined) return { path: installed, env: {} };
  if (process.platform === 'linux' && process.arch === 'x64') return unpackChromium();
  throw new Error('No Chromium or Chrome found: install one, or set CHROME_PATH to its executable');
}

function findInstalled(): string | undefined {
  const configured = process.env.CHROME_PATH;
  if (configured !== undefined && configured !== '') return configured;
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  const candidates = [
    ...names.flatMap((name) => folders.map((folder) => path.join(folder, name))),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    String.raw`C:\Program Files\Google\Chrome\Application\chrome.exe`,
    chromium.executablePath(),
  ];
  return candidates.find((candidate) => existsSync(candidate));
}

/** Unpacks `@sparticuz/chromium` into the cache, with the libraries and fonts that a minimal machine lacks. */
async function unpackChromium(): Promise<Executable> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const { version } = JSON.parse(await readFile(path.resolve(entry, '../../../package.json'), 'utf8'));
  const folder = await installOnce(path.join(cacheFolder, `chromium-${version}`), async (staging) => {
    console.log('Unpacking Chromium…');
    // The package unpacks into the temporary folder. It unpacks its libraries only if it detects Amazon Linux.
    const script = "import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())";
    await promisify(execFile)(process.execPath, ['-e', script], {
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
    });
    await writeFile(path.join(staging, 'fonts', 'fonts.conf'), fontConfiguration);
  });
  const hasFonts = existsSync('/etc/fonts/fonts.conf');
  return {
    path: path.join(folder, 'chromium'),
    env: {
      LD_LIBRARY_PATH: path.join(folder, 'al2023', 'lib'),
      ...(!hasFonts && { FONTCONFIG_PATH: path.join(folder, 'fonts') }),
    },
  };
}

/** The package's own font configuration names folders that exist only on Amazon Linux. */
const fontConfiguration = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="relative">cache</cachedir>
</fontconfig>
`;
