/** The service's own certificate, with which every compute offers TLS. It is self-signed and valid for loopback only. */
import { X509Certificate, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { makePrivateFolder, writePrivateFile } from '../storage/privateFiles.ts';

/** The certificate of the addresses, and its key. */
export interface Certificate {
  /** The path of the certificate. Both files are PEM. */
  readonly certFile: string;
  readonly keyFile: string;
}

const DAY = 86_400_000;
const VALID_FOR = 3650 * DAY;

/** Returns the certificate of a storage folder. Creates it if it is missing, damaged or about to expire. */
export function ensureCertificate(root: string): Certificate {
  const folder = path.join(root, 'tls');
  const files = { certFile: path.join(folder, 'server.crt'), keyFile: path.join(folder, 'server.key') };
  if (isUsable(files)) return files;
  const now = Date.now();
  const { cert, key } = createCertificate(new Date(now - DAY), new Date(now + VALID_FOR));
  makePrivateFolder(folder);
  writePrivateFile(files.keyFile, key);
  writePrivateFile(files.certFile, cert);
  return files;
}

function isUsable({ certFile, keyFile }: Certificate): boolean {
  try {
    const certificate = new X509Certificate(readFileSync(certFile));
    const ends = Date.parse(certificate.validTo);
    return ends > Date.now() + DAY && certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)));
  } catch {
    return false;
  }
}

/** ASN.1 tags (X.690) of the binary form, DER. */
const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;
const contextTag = (number: number) => 0xa0 + number;

/** Object ids as in DER. */
const COMMON_NAME = [0x55, 0x04, 0x03];
const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];
const SUBJECT_ALT_NAME = [0x55, 0x1d, 0x11];
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];

/** Creates an X.509 certificate (RFC 5280). Node reads certificates but can't create them. @returns PEM texts */
function createCertificate(from: Date, to: Date): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = encodeDer(SEQUENCE, encodeDer(OBJECT_ID, ECDSA_WITH_SHA256));
  const commonName = encodeDer(
    SEQUENCE,
    encodeDer(OBJECT_ID, COMMON_NAME),
    encodeDer(UTF8_STRING, 'localhost'),
  );
  const name = encodeDer(SEQUENCE, encodeDer(SET, commonName));
  const toBeSigned = encodeDer(
    SEQUENCE,
    encodeDer(contextTag(0), encodeDer(INTEGER, [2])), // This means version 3.
    encodeDer(INTEGER, [0x40, ...randomBytes(15)]), // This makes the serial number positive.
    algorithm,
    name, // This is the issuer.
    encodeDer(SEQUENCE, encodeUtcTime(from), encodeUtcTime(to)),
    name, // This is the subject.
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(contextTag(3), encodeDer(SEQUENCE, ...certificateExtensions())),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const certificate = encodeDer(SEQUENCE, toBeSigned, algorithm, encodeDer(BIT_STRING, [0], signature));
  return {
    cert: new X509Certificate(certificate).toString(),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

function certificateExtensions(): Buffer[] {
  // The certificate is no authority: a client that trusts it trusts nothing else.
  const constraints = encodeDer(SEQUENCE);
  const names = encodeDer(
    SEQUENCE,
    encodeDer(DNS_NAME, 'localhost'),
    encodeDer(IP_ADDRESS, [127, 0, 0, 1]),
    encodeDer(IP_ADDRESS, [...Buffer.alloc(15), 1]),
  );
  return [
    encodeDer(
      SEQUENCE,
      encodeDer(OBJECT_ID, BASIC_CONSTRAINTS),
      encodeDer(BOOLEAN, [0xff]),
      encodeDer(OCTET_STRING, constraints),
    ),
    encodeDer(SEQUENCE, encodeDer(OBJECT_ID, SUBJECT_ALT_NAME), encodeDer(OCTET_STRING, names)),
  ];
}

/** Encodes a date before 2050, with a year of two digits. */
const encodeUtcTime = (date: Date) =>
  encodeDer(UTC_TIME, `${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`);

/** Encodes a value with its tag and length. */
function encodeDer(tag: number, ...parts: readonly (string | Uint8Array | readonly number[])[]): Buffer {
  const content = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part))),
  );
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
