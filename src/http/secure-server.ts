// HTTPS by a certificate in files, which whoever renews it replaces.
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'

/** A certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
  /** Whose certificates callers must show; absent: none. */
  readonly clientCaFile?: string | undefined
}

/** What a connection may take of the server: bytes of headers, and milliseconds for a whole request. */
export const LIMITS = { maxHeaderSize: 32 * 1024, requestTimeout: 5 * 60 * 1000 }

/** How often the files are read anew. */
const REREAD_EVERY = 60 * 1000

/**
 * A server that answers over HTTPS. `failed`: the files cannot be used as they are now, so what was read before stays. Throws where
 * they cannot be read at first.
 */
export async function createSecureServer(
  { certificateFile, keyFile, clientCaFile }: CertificateFiles,
  answer: RequestListener,
  failed: (error: unknown) => void,
): Promise<Server> {
  const read = async () => ({
    cert: await readFile(certificateFile),
    key: await readFile(keyFile),
    ...(clientCaFile !== undefined && { ca: await readFile(clientCaFile) }),
  })
  const server = createServer({ ...(await read()), requestCert: clientCaFile !== undefined, ...LIMITS }, answer)
  const rereading = setInterval(() => {
    read()
      .then((files) => server.setSecureContext(files))
      .catch(failed)
  }, REREAD_EVERY).unref()
  return server.on('close', () => clearInterval(rereading))
}
