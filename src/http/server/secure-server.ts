// HTTPS by a certificate in files, which whoever renews it replaces.
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { runEvery } from '../../lib/timing/run-every.ts'
import { SERVER_OPTIONS } from './bounded-response.ts'

/** A certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
  /** Whose certificates callers must show; absent: none. */
  readonly clientCaFile?: string | undefined
}

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
  const server = createServer({ ...(await read()), requestCert: clientCaFile !== undefined, ...SERVER_OPTIONS }, answer)
  const rereading = runEvery(REREAD_EVERY, async () => server.setSecureContext(await read()), failed)
  return server.on('close', () => void rereading.close())
}
