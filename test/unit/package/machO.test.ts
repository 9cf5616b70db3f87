import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readBinary } from '../../../scripts/package/binary/binary.ts';
import { matchesSignature, sliceOf } from '../../../scripts/package/binary/machO.ts';

const [X64, ARM64] = [0x01000007, 0x0100000c];

/** A minimal signed library for one processor that needs one other. */
function thin(processor: number, library: string): Buffer {
  const name = Buffer.alloc(48);
  name.writeUInt32LE(0x0c, 0);
  name.writeUInt32LE(name.length, 4);
  name.writeUInt32LE(24, 8);
  name.write(library, 24);
  const signatureCommand = Buffer.alloc(16);
  signatureCommand.writeUInt32LE(0x1d, 0);
  signatureCommand.writeUInt32LE(16, 4);
  const header = Buffer.alloc(32);
  header.writeUInt32LE(0xfeedfacf, 0);
  header.writeUInt32LE(processor, 4);
  header.writeUInt32LE(2, 16);
  signatureCommand.writeUInt32LE(header.length + name.length + signatureCommand.length, 8);
  const code = Buffer.concat([header, name, signatureCommand]);
  return Buffer.concat([code, signatureOf(code)]);
}

function signatureOf(code: Buffer): Buffer {
  const directory = Buffer.alloc(44);
  directory.writeUInt32BE(0xfade0c02, 0);
  directory.writeUInt32BE(directory.length, 16);
  directory.writeUInt32BE(1, 28);
  directory.writeUInt32BE(code.length, 32);
  directory[37] = 2;
  directory[39] = 12;
  const index = Buffer.alloc(20);
  index.writeUInt32BE(0xfade0cc0, 0);
  index.writeUInt32BE(1, 8);
  index.writeUInt32BE(index.length, 16);
  return Buffer.concat([index, directory, createHash('sha256').update(code).digest()]);
}

function fat(...slices: readonly (readonly [processor: number, bytes: Buffer])[]): Buffer {
  const header = Buffer.alloc(8 + 20 * slices.length);
  header.writeUInt32BE(0xcafebabe, 0);
  header.writeUInt32BE(slices.length, 4);
  let offset = header.length;
  for (const [index, [processor, bytes]] of slices.entries()) {
    header.writeUInt32BE(processor, 8 + 20 * index);
    header.writeUInt32BE(offset, 16 + 20 * index);
    header.writeUInt32BE(bytes.length, 20 + 20 * index);
    offset += bytes.length;
  }
  return Buffer.concat([header, ...slices.map(([, bytes]) => bytes)]);
}

describe('a Mach-O file', () => {
  const both = fat([X64, thin(X64, '@loader_path/a.dylib')], [ARM64, thin(ARM64, '/usr/lib/b.dylib')]);

  it('names its processors and the libraries that it needs', () => {
    assert.deepEqual(readBinary(both), {
      system: 'darwin',
      architectures: ['x64', 'arm64'],
      libraries: ['@loader_path/a.dylib', '/usr/lib/b.dylib'],
    });
  });

  it('is cut to one processor with an intact signature', () => {
    const slice = sliceOf(both, 'arm64');
    assert.deepEqual(readBinary(slice)?.architectures, ['arm64']);
    assert.ok(matchesSignature(slice));
  });

  it('no longer matches its signature after a change', () => {
    const slice = Buffer.from(sliceOf(both, 'x64'));
    slice.write('x', 60);
    assert.equal(matchesSignature(slice), false);
  });

  it('cannot be cut to a processor that it is not for', () => {
    assert.throws(() => sliceOf(fat([X64, thin(X64, 'a')]), 'arm64'), /No slice for arm64/);
  });
});
