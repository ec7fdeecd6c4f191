// Kubernetes resources that change all the time. In the end, they and the live realms must be equal.
import { vi } from 'vitest'
import type { Kubernetes, Resource } from './kubernetes.ts'
import { newName } from './service.ts'
import { createNamespace, resource, type TestNamespace } from './test-operator.ts'

/** Kinds of resources that are created and deleted, with the field that changes, and their path in the admin API. */
const KINDS = [
  { kind: 'RealmClient', path: 'clients', key: 'clientId', field: 'name' },
  { kind: 'RealmRole', path: 'roles', key: 'name', field: 'description' },
  { kind: 'RealmGroup', path: 'groups', key: 'name', field: 'description' },
] as const

/** Number of objects of each kind in each realm. */
const OBJECTS_PER_KIND = 5

/** Changing resources of several realms. */
export interface ResourceChurn {
  readonly namespaces: readonly string[]
  readonly realms: readonly string[]
  /** Changes, creates or deletes a resource. Returns false if the resource is still being deleted. Waits while the API server does not respond. */
  change(): Promise<boolean>
  /** Returns wrong statuses, and differences to the live objects of the server. */
  faults(url: string): Promise<string[]>
  /** Deletes all resources. */
  end(): Promise<void>
  /** Returns the number of existing resources. */
  countRemaining(): Promise<number>
}

interface Slot {
  readonly space: TestNamespace
  readonly realm: string
  readonly of: (typeof KINDS)[number]
  readonly name: string
  /** The value of the field; undefined if the resource does not exist. */
  value: string | undefined
}

/** Creates realms, each in a namespace of its own. The next namespace is a tenant of the realm. */
export async function createResourceChurn(
  kubernetes: Kubernetes,
  count: number,
  random: () => number,
): Promise<ResourceChurn> {
  const spaces = await Promise.all(Array.from({ length: count }, () => createNamespace(kubernetes)))
  const realms = spaces.map(() => newName())
  const getTenant = (at: number) => spaces[(at + 1) % count]!
  const realmOf = (at: number) =>
    resource('Realm', 'acme', {
      realm: realms[at]!,
      allowedNamespaces: [{ name: getTenant(at).namespace, kinds: KINDS.map(({ kind }) => kind) }],
    })
  const slots = spaces.flatMap((space, at) =>
    KINDS.flatMap((of) =>
      Array.from({ length: OBJECTS_PER_KIND }, (_, number): Slot => {
        const owner = number === 0 ? getTenant(at) : space
        return { space: owner, realm: realms[at]!, of, name: `${realms[at]}-${number}`, value: undefined }
      }),
    ),
  )
  const resourceOf = ({ of, name, realm, value }: Slot) =>
    resource(of.kind, name, { realm, [of.key]: name, ...(value !== undefined && { [of.field]: value }) })
  for (const [at, space] of spaces.entries()) await space.apply(realmOf(at))
  const all = (): [TestNamespace, Resource][] => [
    ...spaces.map((space, at): [TestNamespace, Resource] => [space, realmOf(at)]),
    ...slots.flatMap((slot): [TestNamespace, Resource][] =>
      slot.value === undefined ? [] : [[slot.space, resourceOf(slot)]],
    ),
  ]

  const live = async (url: string, token: string, { of, realm }: Slot): Promise<Map<string, string>> => {
    const address = `${url}/admin/realms/${realm}/${of.path}?max=1000&briefRepresentation=false`
    const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
    if (!response.ok) return new Map()
    const objects = (await response.json()) as Record<string, string>[]
    return new Map(objects.map((object) => [object[of.key]!, object[of.field]!]))
  }

  return {
    namespaces: spaces.map(({ namespace }) => namespace),
    realms,
    async change() {
      const slot = slots[Math.floor(random() * slots.length)]!
      const value = String(Math.floor(random() * 1e6))
      const [isDeletion, changed] = [random() < 0.3, resourceOf(slot)]
      if (slot.value === undefined && (await retryUntilSuccess(() => slot.space.get(changed))).code !== 404)
        return false
      if (slot.value !== undefined && isDeletion) {
        slot.value = undefined
        await retryUntilSuccess(() => slot.space.delete(changed))
        return true
      }
      slot.value = value
      await retryUntilSuccess(() => slot.space.apply(resourceOf(slot)))
      return true
    },
    async faults(url) {
      const token = await getAdminToken(url)
      const faults: string[] = []
      for (const [space, applied] of all()) {
        const { metadata, status } = await space.get(applied)
        const ready = status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')
        if (ready?.status !== 'True' || status.observedGeneration !== metadata.generation)
          faults.push(`${applied.kind} ${space.namespace}/${applied.metadata.name}: ${JSON.stringify(status)}`)
      }
      for (const [first, ...rest] of Map.groupBy(slots, ({ realm, of }) => `${realm} ${of.kind}`).values()) {
        const liveValues = await live(url, token, first!)
        for (const { name, value } of [first!, ...rest])
          if (liveValues.get(name) !== value) faults.push(`live ${name}: ${liveValues.get(name)}, and not ${value}`)
      }
      return faults
    },
    async end() {
      for (const [space, applied] of all()) await space.delete(applied)
      for (const slot of slots) slot.value = undefined
    },
    async countRemaining() {
      const lists = await Promise.all(
        ['Realm', ...KINDS.map(({ kind }) => kind)].flatMap((kind) =>
          spaces.map(async ({ namespace }) => {
            const path = await kubernetes.pathOf({ apiVersion: 'regent.dev/v1alpha1', kind }, namespace)
            return (await kubernetes.request('GET', path)).body.items.length as number
          }),
        ),
      )
      return lists.reduce((sum, count) => sum + count, 0)
    },
  }
}

/** Repeats a request while it fails. */
export async function retryUntilSuccess<T>(ask: () => Promise<T>): Promise<T> {
  let result: { readonly done: T } | undefined
  const works = async () => {
    result = await ask().then(
      (done) => ({ done }),
      () => undefined,
    )
    return result !== undefined
  }
  await vi.waitUntil(works, { timeout: 60_000, interval: 100 })
  return result!.done
}

async function getAdminToken(url: string): Promise<string> {
  const body = new URLSearchParams({
    ...{ grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' },
  })
  const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body })
  return ((await response.json()) as { access_token: string }).access_token
}
