/** The service's own certificate, with which every compute offers TLS. It is self-signed and valid for loopback only. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createCertificate } from './createCertificate.ts';
import { makePrivateFolder, writePrivateFile } from '../data/privateFiles.ts';

export interface Certificate {
  /** Both are PEM files. */
  readonly certFile: string;
  readonly keyFile: string;
}

const DAY = 86_400_000;
const VALID_FOR = 3650 * DAY;

/** Returns a function for the certificate of a storage folder. */
export function certificateOf(root: string): () => Certificate {
  let certificate: Certificate | undefined;
  return () => (certificate ??= ensureCertificate(root));
}

/** Creates the certificate if it is missing, damaged or about to expire. */
function ensureCertificate(root: string): Certificate {
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
