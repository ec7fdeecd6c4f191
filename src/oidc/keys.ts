// The keys of a realm, ready for use: what its components hold, in the order in which they count.
import { fallbackFor } from '../kinds/key-providers.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import { addFallback, keepMade, keyComponents, type MadeUp } from '../service/login/keys.ts'
import { makeUp } from '../service/realms/key-making.ts'
import { type RealmKey, readKey } from '../service/realms/key-reading.ts'
import { type AtRevision, perRevision, type Revised, same } from './tokens/revised.ts'

interface Keys {
  readonly keys: readonly RealmKey[]
  /** The keys with the versions of their components: what did not change is not read again. */
  readonly read: ReadonlyMap<string, { readonly version: number; readonly key: RealmKey | undefined }>
}

const readKeys = perRevision(load)

/**
 * The keys of a realm, highest priority first. Statements: none where its configuration is as it was when they were read
 * last, otherwise one; more when a component has no key yet. Never inside a transaction.
 */
export async function keysOf(service: Service, realm: Revised): Promise<readonly RealmKey[]> {
  return (await readKeys(service, realm)).keys
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

async function load(service: Service, realm: Revised, before: Keys | undefined): Promise<AtRevision<Keys>> {
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
        const known = before?.read.get(component.id)
        const { version } = component
        return [component.id, known?.version === version ? known : { version, key: readKey(component) }]
      }),
    )
    const keys = [...read.values()].flatMap(({ key }) => key ?? [])
    keys.sort((a, b) => b.priority - a.priority || (a.component < b.component ? -1 : 1))
    return { revision, value: { keys, read } }
  }
}
