// Limits of the admission server, without an API server.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { readFiles } from '../../src/http/server/secure-server.ts'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'
import { ADMISSION_PATH, serveAdmission } from '../../src/operator/admission/admission-server.ts'

const MB = 1024 * 1024

const folder = await mkdtemp(join(tmpdir(), 'regent-admission-'))
const files = { certificateFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') }
const keyPair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const der = createSelfSignedCertificate({
  name: 'localhost',
  ...keyPair,
  from: new Date(Date.now() - 1000),
  until: new Date(Date.now() + 600_000),
})
const ca = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
await writeFile(files.certificateFile, ca)
await writeFile(files.keyFile, keyPair.privateKey.export({ type: 'pkcs8', format: 'pem' }))

const rejectingReviewer = { review: () => Promise.reject(new Error('unexpected review')) }
const failures: unknown[] = []
const server = await serveAdmission(
  rejectingReviewer,
  { host: '127.0.0.1', port: 0, readCertificate: readFiles(files) },
  (error) => failures.push(error),
)
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** Starts to post a body of this many bytes. */
function startPost(length: number) {
  const options = {
    host: '127.0.0.1',
    port: server.port,
    path: `${ADMISSION_PATH}?timeout=30s`,
    servername: 'localhost',
  }
  const headers = { 'content-length': length, expect: '100-continue' }
  const post = request({ ...options, ca, agent: false, method: 'POST', headers })
  const { promise: status, resolve, reject } = Promise.withResolvers<number | undefined>()
  post.on('error', reject).on('response', (response) => {
    response.resume()
    resolve(response.statusCode)
  })
  // The server sends 100 Continue when it is ready to read the body.
  const continued = once(post, 'continue')
  post.flushHeaders()
  return { post, status, continued }
}

test('a body of more than 8 MB returns 413', async () => {
  const { post, status, continued } = startPost(9 * MB)
  await continued
  post.write(Buffer.alloc(8 * MB + 1, ' '))
  expect(await status).toBe(413)
  post.destroy()
})

test('sixteen bodies are read concurrently, and the next one waits', async () => {
  const openPosts = Array.from({ length: 16 }, () => startPost(2))
  await Promise.all(openPosts.map(({ continued }) => continued))
  const waitingPost = startPost(2)
  let isContinued = false
  waitingPost.continued.then(() => {
    isContinued = true
  })
  await setTimeout(300)
  expect(isContinued).toBe(false)
  openPosts[0]!.post.end('{}')
  await waitingPost.continued
  for (const { post } of [...openPosts.slice(1), waitingPost]) post.end('{}')
  expect(await Promise.all([...openPosts, waitingPost].map(({ status }) => status))).toEqual(Array(17).fill(400))
  expect(failures).toEqual([])
})
