// An HTTPS server that reloads its certificate.
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { runEvery } from '../../lib/timing/run-every.ts'
import { SERVER_OPTIONS } from './bounded-response.ts'

/** A certificate and its key, in PEM. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

/** Files with a certificate and its key, in PEM. */
export interface CertificateFiles {
  readonly certificateFile: string
  readonly keyFile: string
}

/** The certificate of a server, and those that it requests from clients. */
export interface CertificateOptions {
  /** Returns the certificate. Called again every minute. */
  readonly readCertificate: () => Promise<CertificatePair>
  /** The CA certificates for client certificates. Absent: none are requested. */
  readonly clientCaFile?: string | undefined
  /** Whether clients without a certificate of these CAs may connect, too. */
  readonly isClientOptional?: boolean
}

/** Milliseconds between reloads of the files. */
const RELOAD_INTERVAL = 60 * 1000

/** Returns a function that reads certificate files. */
export const readFiles =
  ({ certificateFile, keyFile }: CertificateFiles): CertificateOptions['readCertificate'] =>
  async () => ({ cert: await readFile(certificateFile, 'utf8'), key: await readFile(keyFile, 'utf8') })

/**
 * Creates an HTTPS server. If a reload fails, `failed` is called and the loaded certificate stays.
 *
 * @throws Error if the certificate cannot be read at first
 */
export async function createSecureServer(
  { readCertificate, clientCaFile, isClientOptional = false }: CertificateOptions,
  listener: RequestListener,
  failed: (error: unknown) => void,
): Promise<Server> {
  const read = async () => ({
    ...(await readCertificate()),
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
