// Flux's custom resource definitions of git and OCI repositories, reduced for tests, and the artifacts that they refer to.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'
import { vi } from 'vitest'
import type { Kubernetes, Resource } from './kubernetes.ts'

const GROUP = 'source.toolkit.fluxcd.io'
const FLUX_API = `${GROUP}/v1`
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** The label of a definition that tests have installed. Those of Flux itself are not touched. */
const OWN = 'regent.dev/tests'
const timeout = 30_000

const kinds = { GitRepository: 'gitrepositories', OCIRepository: 'ocirepositories' } as const
/** A kind of Flux's objects. */
export type FluxKind = keyof typeof kinds

const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function createDefinition(kind: FluxKind): Resource {
  const plural = kinds[kind]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: Object.assign({ name: `${plural}.${GROUP}` }, { labels: { [OWN]: 'true' } }),
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          ...{ name: 'v1', storage: true, served: true, subresources: { status: {} } },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } },
        },
      ],
    },
  }
}

/** Installs the definition of a kind, and waits until it is served. */
export async function installFluxKind({ request, apply }: Kubernetes, kind: FluxKind): Promise<void> {
  const definition = createDefinition(kind)
  const isServed = async () => {
    // Other tests may have removed it.
    if ((await request('GET', `${DEFINITIONS}/${definition.metadata.name}`)).status === 404) await apply(definition)
    const { status, body } = await request('GET', `/apis/${FLUX_API}`)
    if (status !== 200 || !body.resources.some(({ name }: { name: string }) => name === kinds[kind])) return false
    return (await request('GET', `/apis/${FLUX_API}/${kinds[kind]}?limit=1`)).status === 200
  }
  await vi.waitUntil(isServed, { timeout })
}

/** Removes the definition of a kind if tests have installed it, and waits until it is not served. Returns whether the cluster has none. */
export async function removeFluxKind({ request }: Kubernetes, kind: FluxKind): Promise<boolean> {
  const path = `${DEFINITIONS}/${createDefinition(kind).metadata.name}`
  const { status, body } = await request('GET', path)
  if (status === 404) return true
  if (body.metadata.labels?.[OWN] === undefined) return false
  await request('DELETE', path)
  const isRemoved = async () => {
    const current = await request('GET', path)
    // Other tests may install it again, with another uid.
    if (current.status !== 404) return current.body.metadata.uid !== body.metadata.uid
    return (await request('GET', `/apis/${FLUX_API}/${kinds[kind]}?limit=1`)).status === 404
  }
  await vi.waitUntil(isRemoved, { timeout })
  return true
}

/** Returns an object of Flux. */
export const fluxObject = (kind: FluxKind, name: string, url: string): Resource => ({
  apiVersion: FLUX_API,
  kind,
  metadata: { name },
  spec: { url, interval: '1m' },
})

/** Writes the status of an object, as the source-controller does. */
export async function setFluxStatus(
  { request, pathOf }: Kubernetes,
  namespace: string,
  { kind, name, status }: { readonly kind: FluxKind; readonly name: string; readonly status: object },
): Promise<void> {
  const path = `${await pathOf({ apiVersion: FLUX_API, kind }, namespace)}/${name}/status`
  const merge = { 'content-type': 'application/merge-patch+json' }
  const { status: code, body } = await request('PATCH', path, { status }, merge)
  if (code !== 200) throw new Error(body.message)
}

/** The header of an entry without content. */
type ArchiveHeader = Pick<Header, 'name'> & Partial<Header>

/** Returns a compressed archive with these files, and with further entries that are given by their headers. */
export async function createArchive(
  files: Readonly<Record<string, string>>,
  furtherEntries: readonly ArchiveHeader[] = [],
): Promise<Buffer> {
  const archive = pack()
  for (const [name, text] of Object.entries(files)) archive.entry({ name }, text)
  for (const header of furtherEntries) archive.entry(header, '')
  archive.finalize()
  const chunks: Uint8Array[] = []
  for await (const chunk of archive) if (chunk instanceof Uint8Array) chunks.push(chunk)
  return gzipSync(Buffer.concat(chunks))
}

/** Returns the digest of an archive as Flux writes it. */
export const digestOf = (archive: Buffer): string => `sha256:${createHash('sha256').update(archive).digest('hex')}`

/** A server of archives, by path. */
export interface ArchiveServer {
  readonly url: string
  /** The archives by path. The requests of other paths are responded to with 404. */
  readonly archives: Map<string, Buffer>
  readonly requests: string[]
  close(): void
}

/** Starts a server of archives. */
export async function serveArchives(): Promise<ArchiveServer> {
  const archives = new Map<string, Buffer>()
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(request.url!)
    const archive = archives.get(request.url!)
    response.writeHead(archive ? 200 : 404).end(archive)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    archives,
    requests,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
