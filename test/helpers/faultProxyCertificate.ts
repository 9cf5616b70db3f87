/**
 * Creates certificates at run time (X.509 v3 in DER, ECDSA P-256). So a test can have a service with exactly one fault,
 * and the repository contains no private key.
 */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

export interface CertificateOptions {
  /** Host names and IPv4 addresses that the certificate is valid for. */
  readonly names?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  /** Whether it may sign other certificates. */
  readonly isAuthority?: boolean;
  /** The certificate that signs it. By default, it is self-signed. */
  readonly issuer?: Certificate;
}

export interface Certificate {
  readonly subject: string;
  readonly privateKey: KeyObject;
  /** PEM, as `tls` expects. */
  readonly key: string;
  readonly cert: string;
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const TRUE = der(0x01, Buffer.from([0xff]));
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));

const commonName = (name: string) =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
const time = (date: Date) =>
  der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));
const extension = (id: string, value: Uint8Array) => sequence(oid(id), TRUE, der(0x04, value));

const alternativeName = (name: string) =>
  /^[\d.]+$/.test(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));

const pem = (label: string, content: Buffer) =>
  `-----BEGIN ${label}-----\n${content.toString('base64')}\n-----END ${label}-----\n`;

const DAY = 24 * 60 * 60 * 1000;

/** Creates a certificate: by default, a self-signed one for this machine, valid today. */
export function makeCertificate(options: CertificateOptions = {}): Certificate {
  const { names = ['localhost', '127.0.0.1'], isAuthority = false, issuer } = options;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = isAuthority ? `Test authority ${randomBytes(4).toString('hex')}` : (names[0] ?? 'unnamed');
  const extensions = [
    extension('551d13', sequence(...(isAuthority ? [TRUE] : []))),
    ...(isAuthority ? [] : [extension('551d11', sequence(...names.map(alternativeName)))]),
  ];
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    commonName(issuer?.subject ?? subject),
    sequence(
      time(options.notBefore ?? new Date(Date.now() - DAY)),
      time(options.notAfter ?? new Date(Date.now() + DAY)),
    ),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', signed, issuer?.privateKey ?? privateKey);
  const bits = der(0x03, Buffer.from([0]), signature);
  return {
    subject,
    privateKey,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem('CERTIFICATE', sequence(signed, ECDSA_WITH_SHA256, bits)),
  };
}
