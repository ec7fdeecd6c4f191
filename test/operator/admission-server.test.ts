// The port of admission, without an API server: whoever reaches it costs little.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'
import { ADMISSION_PATH, serveAdmission } from '../../src/operator/admission/admission-server.ts'

const MB = 1024 * 1024

const folder = await mkdtemp(join(tmpdir(), 'regent-admission-'))
const files = { certificateFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const der = createSelfSignedCertificate({
  name: 'localhost',
  ...pair,
  from: new Date(Date.now() - 1000),
  until: new Date(Date.now() + 600_000),
})
const ca = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
await writeFile(files.certificateFile, ca)
await writeFile(files.keyFile, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))

const nobody = { review: () => Promise.reject(new Error('nothing is to be reviewed')) }
const failures: unknown[] = []
const server = await serveAdmission(nobody, { host: '127.0.0.1', port: 0, ...files }, (error) => failures.push(error))
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** Begins to post a body of that many bytes. */
function begin(length: number) {
  const at = { host: '127.0.0.1', port: server.port, path: `${ADMISSION_PATH}?timeout=30s`, servername: 'localhost' }
  const headers = { 'content-length': length, expect: '100-continue' }
  const sent = request({ ...at, ca, agent: false, method: 'POST', headers })
  const { promise: status, resolve, reject } = Promise.withResolvers<number | undefined>()
  sent.on('error', reject).on('response', (answer) => {
    answer.resume()
    resolve(answer.statusCode)
  })
  // The server asks for a body when it is to be read.
  const asked = once(sent, 'continue')
  sent.flushHeaders()
  return { sent, status, asked }
}

test('a body larger than that of any resource is refused', async () => {
  const { sent, status, asked } = begin(9 * MB)
  await asked
  sent.write(Buffer.alloc(8 * MB + 1, ' '))
  expect(await status).toBe(413)
  sent.destroy()
})

test('sixteen bodies are read at a time, and others wait', async () => {
  const held = Array.from({ length: 16 }, () => begin(2))
  await Promise.all(held.map(({ asked }) => asked))
  const last = begin(2)
  let isAsked = false
  last.asked.then(() => {
    isAsked = true
  })
  await setTimeout(300)
  expect(isAsked).toBe(false)
  held[0]!.sent.end('{}')
  await last.asked
  for (const { sent } of [...held.slice(1), last]) sent.end('{}')
  expect(await Promise.all([...held, last].map(({ status }) => status))).toEqual(Array(17).fill(400))
  expect(failures).toEqual([])
})
