import assert from 'node:assert/strict';
import { assertLinear } from '../../../helpers/assertLinear.ts';
import {
  extensionAdviceForOutput,
  addExtensionHint,
  extensionAdvice,
  installCommand,
  UNPACKAGED_EXTENSIONS,
  PRELOADED_EXTENSIONS,
} from '../../../../src/base/sql/missingExtension.ts';
import { MORE_OWNER_EXTENSIONS } from '../../../../src/service/postgres/extensions/ownerExtensions.ts';
import { readText } from '../../../helpers/projectFiles.ts';

const OTHERWISE =
  /^Install "\w+" for a Postgres 18 on this machine, or set hostedPostgres\.localService\.extensionsPath /;

describe('missing extensions', () => {
  it('of the public service are all in docs/extensions.md, with what another Postgres does for them', () => {
    const text = readText('docs/extensions.md');
    const row = /^\| `([^`]+)` *\| *\| not in the package; from another Postgres: (.+?) *\|$/gm;
    const rows = new Map([...text.matchAll(row)].map(([, name = '', status = '']) => [name, status]));
    assert.deepEqual(
      [...rows.keys()].toSorted(),
      [...Object.keys(UNPACKAGED_EXTENSIONS), ...PRELOADED_EXTENSIONS].toSorted(),
    );
    for (const name of PRELOADED_EXTENSIONS)
      assert.equal(rows.get(name), 'refused, it needs to be preloaded');
    const working = [...rows].filter(([, status]) => status === 'works').map(([name]) => name);
    // The control file of the last one says that it needs no superuser.
    assert.deepEqual(working, [...MORE_OWNER_EXTENSIONS, 'pg_partman'].toSorted());
  });

  it('are installed by a command of the system, if it has one', () => {
    const commands: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      debian: {
        vector: 'apt install postgresql-18-pgvector',
        postgis_topology: 'apt install postgresql-18-postgis-3',
        pg_partman: 'apt install postgresql-18-partman',
      },
      darwin: {
        vector: 'brew install postgresql@18 pgvector',
        postgis: 'brew install postgresql@18 postgis',
      },
      fedora: { vector: 'dnf install pgvector' },
      redhat: { vector: 'dnf install pgvector_18' },
      arch: { vector: 'pacman -S pgvector' },
    };
    for (const [machine, each] of Object.entries(commands))
      for (const [name, command] of Object.entries(each)) {
        assert.equal(installCommand(name, machine), command);
        assert.ok(extensionAdvice(name, machine).startsWith(`Install it with "${command}"`));
      }
    for (const [name, machine] of [
      ['vector', 'win32'],
      ['vector', 'linux'],
      ['hll', 'darwin'],
      ['plv8', 'debian'],
      ['hll', 'fedora'],
      ['vector', 'constructor'],
    ] as const)
      assert.match(extensionAdvice(name, machine), OTHERWISE);
  });

  it('are said to be needed at the start, misspelled or unknown', () => {
    assert.match(
      extensionAdvice('pg_cron', 'debian'),
      /must be loaded when Postgres starts\. Use a branch of/,
    );
    assert.equal(extensionAdvice('pgvector'), 'The extension of pgvector is called "vector".');
    for (const name of ['quantum', 'constructor', '__proto__']) {
      assert.match(extensionAdvice(name, 'debian'), /and the public service isn't known to offer it\.$/);
      assert.equal(installCommand(name, 'debian'), undefined);
    }
  });

  it('are recognized in errors, also of older versions, and in what psql prints', () => {
    const advice = /apt install postgresql-18-pgvector/;
    for (const message of [
      'extension "vector" is not available',
      'could not open extension control file "/usr/share/postgresql/18/extension/vector.control": No such file or directory',
    ])
      assert.match(extensionAdviceForOutput(`psql:a.sql:1: ERROR:  ${message}\n`, 'debian') ?? '', advice);
    assert.match(
      extensionAdviceForOutput('permission denied to create extension "postgis"') ?? '',
      /\(--trust-extension\)/,
    );
    assert.equal(extensionAdviceForOutput('permission denied to create extension "file_fdw"'), undefined);
    assert.equal(extensionAdviceForOutput('ERROR:  relation "vector" does not exist'), undefined);
  });

  for (const name of ['plpgsql', 'uuid-ossp'])
    it(`are not those of older dumps, which comment on one of a superuser (${name})`, () => {
      const advice =
        extensionAdviceForOutput(`psql:a.sql:9: ERROR:  must be owner of extension ${name}`) ?? '';
      assert.ok(advice.startsWith(`A superuser owns the extension "${name}". Remove this statement`), advice);
    });

  for (const part of [
    'could not open extension control file "a/.control',
    'could not load library "a/b-1.so": version `A_1 a.so.1',
    'could not access file "$libdir/a-1',
    'extension "a',
    'must be owner of extension a$a',
    'a/a"',
  ])
    it(`are looked for in a time in proportion to the text: ${part}`, () => {
      const run = (text: string) => void extensionAdviceForOutput(text);
      assertLinear(part, 20_000, run);
      assertLinear(part.slice(-3), 20_000, run, part);
    });

  it('are explained if the system does not load their library', () => {
    const install =
      'install the extension with "apt install postgresql-18-pgvector", and start the local service again.';
    for (const [library, reason, advice] of [
      [
        '/x/lib/vector.so',
        "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x/lib/vector.so)",
        `The library of the extension is built for a newer system, with GLIBC_2.38. To have one for this system, ${install}`,
      ],
      [
        '/x/lib/vector.so',
        '/x/lib/vector.so: undefined symbol: float_overflow',
        `The library of the extension needs something, which this system lacks or has in another version. Install that, or ${install}`,
      ],
    ] as const) {
      const message = `could not load library "${library}": ${reason}`;
      const error = Object.assign(new Error(message), { code: 'XX000', hint: '' });
      addExtensionHint(error, 'debian');
      assert.equal(error.hint, advice);
    }
    const needed = (library: string, reason: string) =>
      extensionAdviceForOutput(
        `psql:a.sql:1: ERROR:  could not load library "${library}": ${reason}\nCONTEXT:  x`,
        'debian',
      );
    for (const reason of [
      'libgeos_c.so.1: cannot open shared object file: No such file or directory',
      'Error loading shared library libgeos_c.so.1: No such file or directory (needed by /x/lib/postgis-3.so)',
    ])
      assert.match(
        needed('/x/lib/postgis-3.so', reason) ?? '',
        /needs libgeos_c\.so\.1, which this system .* with "apt install postgresql-18-postgis-3", and/,
      );
    assert.match(
      needed(
        '/x/lib/h3.dylib',
        'dlopen(/x/lib/h3.dylib, 0x000A): Library not loaded: /opt/lib/libh3.1.dylib',
      ) ?? '',
      /needs \/opt\/lib\/libh3\.1\.dylib, which/,
    );
    assert.match(
      needed('C:\\x\\lib\\plperl.dll', 'The specified module could not be found.') ?? '',
      /needs something, which .* install the extension from this system's packages, and start/,
    );
  });

  it('are explained if Postgres does not find their library', () => {
    // The folder of a branch's extensions was removed, or the setting.
    for (const [file, end] of [
      ['vector', 'extension with "apt install postgresql-18-pgvector", and start the local service again.'],
      ['$libdir/own', 'or install the extension, and start the local service again.'],
    ] as const) {
      const message = `could not access file "${file}": No such file or directory`;
      const advice = extensionAdviceForOutput(message, 'debian') ?? '';
      assert.match(
        advice,
        /^Postgres doesn't find the library of the extension\. Set .*extensionsPath \(--ext/,
      );
      assert.ok(advice.endsWith(end), advice);
    }
  });

  it('replace the hint of the error, and leave other errors as they are', () => {
    const error = (code: string, message = 'extension "vector" is not available') =>
      Object.assign(new Error(message), { code, hint: 'first' });
    const hint = (given: Error & { hint: string }) => {
      addExtensionHint(given, 'debian');
      return given.hint;
    };
    for (const code of ['0A000', '58P01']) assert.match(hint(error(code)), /^Install it with "apt install/);
    assert.equal(hint(error('42P01')), 'first');
    assert.equal(hint(error('0A000', 'not supported')), 'first');
    addExtensionHint(undefined);
    addExtensionHint('text');
  });
});
