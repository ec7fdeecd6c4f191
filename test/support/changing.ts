// Resources that somebody changes all the time, and what becomes of them: they and the live realms must say the same in the end.
import { vi } from 'vitest'
import type { Kubernetes, Resource } from './kubernetes.ts'
import { createNamespace, resource, type TestNamespace } from './operated.ts'
import { newName } from './service.ts'

/** Kinds that come and go, with the field that is changed, and where REST has them. */
const KINDS = [
  { kind: 'RealmClient', path: 'clients', key: 'clientId', field: 'name' },
  { kind: 'RealmRole', path: 'roles', key: 'name', field: 'description' },
  { kind: 'RealmGroup', path: 'groups', key: 'name', field: 'description' },
] as const

/** Objects of each kind in each realm. */
const OBJECTS_PER_KIND = 5

/** Resources of several realms. */
export interface ResourceChurn {
  readonly namespaces: readonly string[]
  readonly realms: readonly string[]
  /** Changes, makes or deletes one; gives whether it did, since one that goes is let go first. Waits while the API server does not answer. */
  change(): Promise<boolean>
  /** What is not as it should be, of statuses and of what the server at the address has live. */
  faults(url: string): Promise<string[]>
  /** Deletes all of them. */
  end(): Promise<void>
  /** How many are still there. */
  left(): Promise<number>
}

interface Slot {
  readonly space: TestNamespace
  readonly realm: string
  readonly of: (typeof KINDS)[number]
  readonly name: string
  /** What the field is; absent: it was deleted, or never made. */
  value: string | undefined
}

/** Makes so many realms, each of a namespace of its own, in which the next one states something, too. */
export async function createResourceChurn(kubernetes: Kubernetes, count: number, random: () => number): Promise<ResourceChurn> {
  const spaces = await Promise.all(Array.from({ length: count }, () => createNamespace(kubernetes)))
  const realms = spaces.map(() => newName())
  const guestOf = (at: number) => spaces[(at + 1) % count]!
  const realmOf = (at: number) =>
    resource('Realm', 'acme', { realm: realms[at]!, allowedNamespaces: [{ name: guestOf(at).namespace }] })
  const slots = spaces.flatMap((space, at) =>
    KINDS.flatMap((of) =>
      Array.from({ length: OBJECTS_PER_KIND }, (_, number): Slot => {
        const owner = number === 0 ? guestOf(at) : space
        return { space: owner, realm: realms[at]!, of, name: `${realms[at]}-${number}`, value: undefined }
      }),
    ),
  )
  const resourceOf = ({ of, name, realm, value }: Slot) =>
    resource(of.kind, name, { realm, [of.key]: name, ...(value !== undefined && { [of.field]: value }) })
  for (const [at, space] of spaces.entries()) await space.apply(realmOf(at))
  const all = (): [TestNamespace, Resource][] => [
    ...spaces.map((space, at): [TestNamespace, Resource] => [space, realmOf(at)]),
    ...slots.flatMap((slot): [TestNamespace, Resource][] => (slot.value === undefined ? [] : [[slot.space, resourceOf(slot)]])),
  ]

  const live = async (url: string, token: string, { of, realm }: Slot): Promise<Map<string, string>> => {
    const address = `${url}/admin/realms/${realm}/${of.path}?max=1000&briefRepresentation=false`
    const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
    if (!answer.ok) return new Map()
    const found = (await answer.json()) as Record<string, string>[]
    return new Map(found.map((one) => [one[of.key]!, one[of.field]!]))
  }

  return {
    namespaces: spaces.map(({ namespace }) => namespace),
    realms,
    async change() {
      const slot = slots[Math.floor(random() * slots.length)]!
      const value = String(Math.floor(random() * 1e6))
      const [goes, one] = [random() < 0.3, resourceOf(slot)]
      if (slot.value === undefined && (await retryUntilAnswered(() => slot.space.get(one))).code !== 404) return false
      if (slot.value !== undefined && goes) {
        slot.value = undefined
        await retryUntilAnswered(() => slot.space.delete(one))
        return true
      }
      slot.value = value
      await retryUntilAnswered(() => slot.space.apply(resourceOf(slot)))
      return true
    },
    async faults(url) {
      const token = await getAdminToken(url)
      const faults: string[] = []
      for (const [space, one] of all()) {
        const { metadata, status } = await space.get(one)
        const ready = status?.conditions?.find(({ type }: { type: string }) => type === 'Ready')
        if (ready?.status !== 'True' || status.observedGeneration !== metadata.generation)
          faults.push(`${one.kind} ${space.namespace}/${one.metadata.name}: ${JSON.stringify(status)}`)
      }
      for (const [first, ...others] of Map.groupBy(slots, ({ realm, of }) => `${realm} ${of.kind}`).values()) {
        const found = await live(url, token, first!)
        for (const { name, value } of [first!, ...others])
          if (found.get(name) !== value) faults.push(`live ${name}: ${found.get(name)}, and not ${value}`)
      }
      return faults
    },
    async end() {
      for (const [space, one] of all()) await space.delete(one)
      for (const slot of slots) slot.value = undefined
    },
    async left() {
      const lists = await Promise.all(
        ['Realm', ...KINDS.map(({ kind }) => kind)].flatMap((kind) =>
          spaces.map(async ({ namespace }) => {
            const path = await kubernetes.pathOf({ apiVersion: 'regent.dev/v1alpha1', kind }, namespace)
            return (await kubernetes.request('GET', path)).body.items.length as number
          }),
        ),
      )
      return lists.reduce((sum, one) => sum + one, 0)
    },
  }
}

/** Does it again while the API server does not answer. */
export async function retryUntilAnswered<T>(ask: () => Promise<T>): Promise<T> {
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
  const answer = await fetch(`${url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body })
  return ((await answer.json()) as { access_token: string }).access_token
}
