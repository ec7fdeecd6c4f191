// An HTTPS server that reloads its certificate files.
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { runEvery } from '../../lib/timing/run-every.ts'
import { SERVER_OPTIONS } from './bounded-response.ts'

/** A certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
  /** The CA certificates for client certificates. Absent: none are requested. */
  readonly clientCaFile?: string | undefined
  /** Whether clients without a certificate of these CAs may connect, too. */
  readonly isClientOptional?: boolean
}

/** Milliseconds between reloads of the files. */
const RELOAD_INTERVAL = 60 * 1000

/**
 * Creates an HTTPS server. If a reload fails, `failed` is called and the loaded certificate stays.
 *
 * @throws Error if the files cannot be read at first
 */
export async function createSecureServer(
  { certificateFile, keyFile, clientCaFile, isClientOptional = false }: CertificateFiles,
  listener: RequestListener,
  failed: (error: unknown) => void,
): Promise<Server> {
  const read = async () => ({
    cert: await readFile(certificateFile),
    key: await readFile(keyFile),
    ...(clientCaFile !== undefined && { ca: await readFile(clientCaFile) }),
  })
  const server = createServer(
    {
      ...(await read()),
      requestCert: clientCaFile !== undefined,
      rejectUnauthorized: !isClientOptional,
      ...SERVER_OPTIONS,
    },
    listener,
  )
  const rereading = runEvery(RELOAD_INTERVAL, async () => server.setSecureContext(await read()), failed)
  return server.on('close', () => void rereading.close())
}
