import assert from 'node:assert/strict';
import {
  findServiceLines,
  isServiceName,
  serviceLines,
  serviceName,
  setService,
} from '../../../../src/extension/connection/serviceFile.ts';

const set = (file: string, name: string, lines: readonly string[]): string => {
  const { start, end, text } = setService(file, name, lines);
  return file.slice(0, start) + text + file.slice(end);
};

const FILE = '# mine\n[one]\nhost=a\n# why\nport=1\n\n# the other\n[two]\nhost=b\n';

describe('setService', () => {
  it('replaces one service and keeps everything else', () => {
    assert.equal(set(FILE, 'one', ['host=new']), '# mine\n[one]\nhost=new\n\n# the other\n[two]\nhost=b\n');
    assert.equal(set(FILE, 'two', ['host=new']), FILE.replace('host=b', 'host=new'));
  });

  it('adds a service at the end', () => {
    assert.equal(set(FILE, 'three', ['host=c']), `${FILE}\n[three]\nhost=c\n`);
    assert.equal(set('', 'three', ['host=c']), '[three]\nhost=c\n');
    assert.equal(set('[one]\nhost=a', 'three', ['host=c']), '[one]\nhost=a\n\n[three]\nhost=c\n');
  });

  it('keeps the line ends of the file', () => {
    const file = '[one]\r\nhost=a\r\n\r\n[two]\r\nhost=b\r\n';
    assert.equal(set(file, 'one', ['host=c', 'port=1']), file.replace('host=a', 'host=c\r\nport=1'));
  });

  it('takes no longer name for the same', () => {
    assert.equal(set('[one-more]\nhost=a\n', 'one', ['host=c']), '[one-more]\nhost=a\n\n[one]\nhost=c\n');
  });
});

describe('findServiceLines', () => {
  it('returns the entries of the first service with the name, as libpq reads them', () => {
    assert.deepEqual(findServiceLines(FILE, 'one'), ['host=a', 'port=1']);
    assert.deepEqual(findServiceLines('  [one] \r\n host=a \r\n[one]\r\nhost=b', 'one'), ['host=a']);
    assert.deepEqual(findServiceLines('[one]\n', 'one'), []);
    assert.equal(findServiceLines('#[one]\nhost=a\n', 'one'), undefined);
    assert.equal(findServiceLines(FILE, 'on'), undefined);
  });

  it('finds what setService wrote', () => {
    const lines = serviceLines({ host: 'ep-a.example.com', role: 'me', database: 'a b' });
    assert.deepEqual(findServiceLines(set(FILE, 'one', lines), 'one'), lines);
    assert.deepEqual(lines, [
      'host=ep-a.example.com',
      'port=5432',
      'dbname=a b',
      'user=me',
      'sslmode=require',
    ]);
  });
});

describe('serviceName', () => {
  it('is a valid name', () => {
    assert.equal(serviceName('My shop!', 'ep-a [x]'), 'My-shop-ep-a-x');
    assert.equal(serviceName('店', 'ep-a'), 'ep-a');
    assert.ok(isServiceName('shop.main-1_x') && !isServiceName('a]b') && !isServiceName(''));
  });
});
