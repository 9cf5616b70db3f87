/** Creates a self-signed certificate for loopback. Loaded lazily (see `certificate.ts`). */
import { generate } from 'selfsigned';

/** @returns PEM texts */
export async function createCertificate(from: Date, to: Date): Promise<{ cert: string; key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: from,
    notAfterDate: to,
    extensions: [
      // A client that trusts it trusts nothing else: it can't sign other certificates.
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { cert, key };
}
