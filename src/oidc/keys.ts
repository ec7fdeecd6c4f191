// The keys of a realm, ready for use: what its components hold, in the order in which they count.
import { fallbackFor } from '../kinds/key-providers.ts'
import type { Context } from '../service/context.ts'
import { failure } from '../service/errors.ts'
import { makeUp } from '../service/key-making.ts'
import { type RealmKey, readKey } from '../service/key-reading.ts'
import { addFallback, keepMade, keyComponents, type MadeUp } from '../service/keys.ts'
import { type RealmRow, type Service, SYSTEM } from '../service/service.ts'

/** What addresses a realm for good, and tells whether its configuration has changed. */
export type Revised = Pick<RealmRow, 'number' | 'name' | 'revision'>

/** Keys as they were read, each with the version of its component: what did not change is not read again. */
interface Loaded {
  readonly revision: number
  readonly keys: readonly RealmKey[]
  readonly read: ReadonlyMap<string, { readonly version: number; readonly key: RealmKey | undefined }>
}

interface Loading {
  /** The keys are those of this revision of the realm, or of a later one. */
  readonly revision: number
  readonly loaded: Promise<Loaded>
}

const known = new WeakMap<Service, Map<number, Loading>>()

/**
 * The keys of a realm, highest priority first. Statements: none where its configuration is as it was when they were read
 * last, otherwise one; more when a component has no key yet. Never inside a transaction.
 */
export async function keysOf(service: Service, realm: Revised): Promise<readonly RealmKey[]> {
  const cache = known.get(service) ?? new Map<number, Loading>()
  known.set(service, cache)
  const before = cache.get(realm.number)
  if (before && before.revision >= realm.revision) return (await before.loaded).keys
  const loading = { revision: realm.revision, loaded: load(service, realm, before) }
  cache.set(realm.number, loading)
  try {
    const loaded = await loading.loaded
    if (cache.get(realm.number) === loading) cache.set(realm.number, { ...loading, revision: loaded.revision })
    return loaded.keys
  } catch (error) {
    // What failed is tried again by the next caller.
    if (cache.get(realm.number) === loading) cache.delete(realm.number)
    throw error
  }
}

/** The key that signs with an algorithm; made where no active key is for it. Throws where nothing signs so. */
export async function signingKey(service: Service, realm: Revised, algorithm: string): Promise<RealmKey> {
  const fits = (key: RealmKey) => key.signs && key.status === 'ACTIVE' && key.algorithm === algorithm
  const found = (await keysOf(service, realm)).find(fits)
  if (found) return found
  if (!fallbackFor(algorithm)) throw new Error(`nothing signs with ${algorithm}, as the realm ${realm.name} asks`)
  const revision = await service.write(SYSTEM, realm.name, async (context) => {
    await addFallback(same(context, realm), algorithm)
    return context.version
  })
  const made = (await keysOf(service, { ...realm, revision })).find(fits)
  if (!made) throw new Error(`the realm ${realm.name} has no active key that signs with ${algorithm}`)
  return made
}

/** The key with that id, if what it has signed counts. */
export async function verifyingKey(service: Service, realm: Revised, kid: string): Promise<RealmKey | undefined> {
  const keys = await keysOf(service, realm)
  return keys.find((key) => key.kid === kid && key.signs && key.status !== 'DISABLED')
}

async function load(service: Service, realm: Revised, before: Loading | undefined): Promise<Loaded> {
  const earlier = (await before?.loaded.catch(() => undefined))?.read
  for (;;) {
    const { components, revision, now } = await service.read(SYSTEM, realm.name, async (context) => {
      const components = await keyComponents(same(context, realm))
      return { components, revision: context.realm.revision, now: context.now }
    })
    const making = components.map(async (component): Promise<MadeUp[]> => {
      const settings = await makeUp(component, realm.name, now)
      return settings ? [{ component, settings }] : []
    })
    const made = (await Promise.all(making)).flat()
    if (made.length) {
      await service.write(SYSTEM, realm.name, (context) => keepMade(same(context, realm), made))
      continue
    }
    const read = new Map(
      components.map((component) => {
        const known = earlier?.get(component.id)
        const { version } = component
        return [component.id, known?.version === version ? known : { version, key: readKey(component) }]
      }),
    )
    const keys = [...read.values()].flatMap(({ key }) => key ?? [])
    keys.sort((a, b) => b.priority - a.priority || (a.component < b.component ? -1 : 1))
    return { revision, keys, read }
  }
}

/** A realm made anew, also with the same name and id, has another number. */
function same<C extends Context>(context: C, { number }: Revised): C {
  if (context.realm.number !== number) throw failure('not_found', 'Realm not found.')
  return context
}
