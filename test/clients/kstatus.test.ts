// kstatus, the library with which Flux and others read statuses: resources of all kinds that are applied in any order never fail, and are
// current as soon as the last one has come.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { createDocument } from '../../src/realm-file/yaml/document.ts'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import { createCertificate, createRepository, type GitServer, hasGit, startGitServer } from '../support/git.ts'
import { hasKubernetes, type Kubernetes, openKubernetes, type Resource } from '../support/kubernetes.ts'
import { toResources } from '../support/realm-resources.ts'
import { createSampleObjects, toDocument } from '../support/samples.ts'
import { newDatabase, newName } from '../support/service.ts'
import {
  createNamespace,
  getOperatorCluster,
  resource,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

/** Path of the program in `kstatus/`. */
const program = process.env.REGENT_KSTATUS
const orders = Number(process.env.REGENT_ORDERS ?? 20)
const seed = Number(process.env.REGENT_SEED ?? 1)
/** Milliseconds from the last object until all are current. */
const LIMIT = 1000
const PASSWORD = 'password-of-the-repository'
const isAvailable = hasKubernetes && hasGit && program !== undefined && inject('databaseUrl') !== undefined

/** The report of kstatus about one version of a resource. */
interface Observation {
  readonly resource: string
  readonly status: string
  readonly message: string
  /** When the watch has reported the version, in milliseconds. */
  readonly at: number
}

/** Returns the observation since which the status has not changed. */
function findLastChange(observations: readonly Observation[], name: string): Observation {
  const ofResource = observations.filter(({ resource }) => resource === name)
  return ofResource[ofResource.findLastIndex(({ status }) => status !== ofResource.at(-1)!.status) + 1]!
}

const getName = ({ kind, metadata }: Resource) => `${kind} ${metadata.name}`

describe.skipIf(!isAvailable)(
  isAvailable ? 'kstatus' : 'kstatus: skipped without REGENT_KSTATUS and Kubernetes',
  () => {
    let folder: string
    let host: GitServer
    let kubernetes: Kubernetes
    let cli: CommandFolder
    let spaces: TestNamespace[]
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'regent-test-kstatus-'))
      const { push } = await createRepository(folder)
      const { file, ...tls } = await createCertificate(folder)
      host = await startGitServer(folder, 'ci', PASSWORD, tls)
      const files = Object.fromEntries(
        Array.from({ length: orders + 1 }, (_, at) => [`${at}/realm.yaml`, `realm: ${newName('git')}\n`]),
      )
      await push(files)
      kubernetes = await openKubernetes()
      spaces = await Promise.all(Array.from({ length: orders + 1 }, () => createNamespace(kubernetes)))
      const namespaces = spaces.map(({ namespace }) => namespace).join(',')
      // A process of its own, as in production.
      cli = await createCommandFolder({ REGENT_SOURCE: '', GIT_SSL_CAINFO: file })
      const { url } = await newDatabase()
      await cli.serve('--source', '', '--database', url!, '--operator', '--operator-namespaces', namespaces)
    })
    afterAll(async () => {
      await kubernetes?.removeNamespaces()
      await cli?.remove()
      await host?.close()
      await rm(folder, { recursive: true, force: true })
    })

    /** Returns a resource of every kind, some of which refer to Secrets, and these Secrets. */
    function createResources(at: number): { readonly resources: Resource[]; readonly secrets: Resource[] } {
      const content = toDocument(newName(), createSampleObjects()) as Representation
      const refer = (name: string) => ({ secretKeyRef: { name, key: 'value' } })
      const withSecret: Record<string, object> = {
        RealmClient: { secret: refer('client') },
        RealmUser: { credentials: [{ type: 'password', value: refer('user') }] },
      }
      const url = `https://${host.host}/realms.git`
      const source = resource('RealmSource', 'source', {
        ...{ url, folder: String(at), interval: '1h', credentials: { secretRef: { name: 'git' } } },
      })
      const objects = toResources(createDocument('all', content), 'acme').map((item) => ({
        ...item,
        spec: { ...(item.spec as object), ...withSecret[item.kind] },
      }))
      const createSecret = (name: string, stringData: object): Resource => ({
        ...{ apiVersion: 'v1', kind: 'Secret', stringData },
        metadata: Object.assign({ name }, { labels: { 'regent.dev/secret': 'true' } }),
      })
      const secrets = [
        createSecret('git', { username: 'ci', password: PASSWORD }),
        ...['client', 'user'].map((name) => createSecret(name, { value: 'secret-of-the-object' })),
      ]
      return { resources: [...objects, source], secrets }
    }

    /** Watches the resources of a namespace, and passes each version to kstatus until the signal is aborted. */
    async function observe({ namespace }: TestNamespace, resources: readonly Resource[], signal: AbortSignal) {
      const observations: Observation[] = []
      const child = spawn(program!, { stdio: ['pipe', 'pipe', 'inherit'] })
      signal.addEventListener('abort', () => child.stdin.end())
      const versions: Pick<Observation, 'resource' | 'at'>[] = []
      createInterface({ input: child.stdout }).on('line', (line) =>
        observations.push({ ...versions[observations.length]!, ...JSON.parse(line) }),
      )
      const handleEvent = (line: string) => {
        const { type, object } = JSON.parse(line)
        if (type !== 'ADDED' && type !== 'MODIFIED') return
        versions.push({ resource: getName(object), at: performance.now() })
        child.stdin.write(`${JSON.stringify(object)}\n`)
      }
      const kinds = new Map(resources.map((item) => [item.kind, item]))
      for (const item of kinds.values()) {
        const path = await kubernetes.pathOf(item, namespace)
        void getOperatorCluster()
          .streamLines(`${path}?watch=true&timeoutSeconds=600`, handleEvent, signal)
          .catch(() => {})
      }
      return observations
    }

    test(`resources of all kinds in ${orders} orders never fail, and are current ${LIMIT} ms after the last Secret`, async () => {
      const times: number[] = []
      const random = fc.sample(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), { seed, numRuns: 1 })[0]!
      const shuffle = <T>(items: readonly T[]) =>
        items
          .map((item) => [random.next().value as number, item] as const)
          .toSorted(([a], [b]) => a - b)
          .map(([, item]) => item)
      for (const [order, space] of spaces.entries()) {
        const { resources, secrets } = createResources(order)
        const ending = new AbortController()
        const observations = await observe(space, resources, ending.signal)
        const applied = shuffle(resources)
        for (const item of [...applied, ...secrets]) await space.apply(item)
        const end = performance.now()
        const isCurrent = (name: string) =>
          observations.findLast(({ resource }) => resource === name)?.status === 'Current'
        await waitUntil(async () => applied.every((item) => isCurrent(getName(item))))
        const failed = observations.filter(({ status }) => status === 'Failed')
        expect(failed, `order ${order}, seed ${seed}: ${applied.map(getName)}`).toEqual([])
        const changes = applied.map((item) => findLastChange(observations, getName(item)))
        // The first one is slower, since the server compiles its code.
        if (order > 0) times.push(Math.max(...changes.map(({ at }) => at - end), 0))
        ending.abort()
        await space.delete(...applied)
        for (const item of applied) await space.waitForDeletion(item)
      }
      const sorted = times.toSorted((a, b) => a - b).map(Math.round)
      console.log(
        `${orders} orders, load ${loadavg()[0]!.toFixed(1)}: current after the last Secret: median ${sorted[orders >> 1]} ms, at most ${sorted.at(-1)} ms`,
      )
      expect(sorted.at(-1)).toBeLessThan(LIMIT)
    }, 3_600_000)
  },
)
