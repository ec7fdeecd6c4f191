// The signing keys of a realm, read from its key provider components.
import { findFallbackKeyProvider } from '../kinds/key-providers.ts'
import {
  cachePerRevision,
  type RealmRevision,
  requireSameRealm,
  type ValueAtRevision,
} from '../service/context/realm-values.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import {
  addFallbackKey,
  type GeneratedConfig,
  listKeyComponents,
  storeGeneratedConfig,
} from '../service/login/key-components.ts'
import { generateMissingConfig } from '../service/realms/key-generation.ts'
import { isInKeyStore, readKeyStoreComponent, UnreadableKeyStore } from '../service/realms/key-store-keys.ts'
import { type KeyComponent, parseRealmKey, type RealmKey } from '../service/realms/realm-keys.ts'

interface CachedKeys {
  /** Highest priority first. */
  readonly keys: readonly RealmKey[]
  /** The keys by component, with the component's version: an unchanged component is not parsed again. */
  readonly byComponent: ReadonlyMap<string, { readonly version: number; readonly key: RealmKey | undefined }>
}

const getCachedKeys = cachePerRevision(loadKeys)

/**
 * Returns the keys of a realm, highest priority first. No statement while the configuration is unchanged, else one, and
 * more where a component has no key yet. It must not be called inside a transaction.
 */
export async function listRealmKeys(service: Service, realm: RealmRevision): Promise<readonly RealmKey[]> {
  return (await getCachedKeys(service, realm)).keys
}

/** Returns the active key for an algorithm, and generates one if there is none. Throws for algorithms that cannot be generated. */
export async function getSigningKey(service: Service, realm: RealmRevision, algorithm: string): Promise<RealmKey> {
  const isSuitable = (key: RealmKey) => key.canSign && key.status === 'ACTIVE' && key.algorithm === algorithm
  const active = (await listRealmKeys(service, realm)).find(isSuitable)
  if (active) return active
  if (!findFallbackKeyProvider(algorithm)) {
    throw new Error(
      `The realm ${realm.name} has no active key for the algorithm ${algorithm}. Add a key provider, or choose another algorithm.`,
    )
  }
  const revision = await service.write(SYSTEM, realm.name, async (context) => {
    await addFallbackKey(requireSameRealm(context, realm), algorithm)
    return context.version
  })
  const generated = (await listRealmKeys(service, { ...realm, revision })).find(isSuitable)
  if (!generated) throw new Error(`The realm ${realm.name} has no active key for the algorithm ${algorithm}.`)
  return generated
}

/** Returns the key with a key id, if it is not disabled: passive keys still verify. */
export async function findVerificationKey(
  service: Service,
  realm: RealmRevision,
  kid: string,
): Promise<RealmKey | undefined> {
  const keys = await listRealmKeys(service, realm)
  return keys.find((key) => key.kid === kid && key.canSign && key.status !== 'DISABLED')
}

async function loadKeys(
  service: Service,
  realm: RealmRevision,
  previous: CachedKeys | undefined,
): Promise<ValueAtRevision<CachedKeys>> {
  for (;;) {
    const { components, revision, now } = await service.read(SYSTEM, realm.name, async (context) => {
      const components = await listKeyComponents(requireSameRealm(context, realm))
      return { components, revision: context.realm.revision, now: context.now }
    })
    const generation = components.map(async (component): Promise<GeneratedConfig[]> => {
      const config = await generateMissingConfig(component, realm.name, now)
      return config ? [{ component, config }] : []
    })
    const generated = (await Promise.all(generation)).flat()
    if (generated.length) {
      await service.write(SYSTEM, realm.name, (context) =>
        storeGeneratedConfig(requireSameRealm(context, realm), generated),
      )
      continue
    }
    const parsing = components.map(async (component) => {
      const cached = previous?.byComponent.get(component.id)
      const { id, version } = component
      if (cached?.version === version) return [id, cached] as const
      return [id, { version, key: await parseKey(service, realm.name, component) }] as const
    })
    const byComponent = new Map(await Promise.all(parsing))
    const keys = [...byComponent.values()].flatMap(({ key }) => key ?? [])
    keys.sort((a, b) => b.priority - a.priority || (a.componentId < b.componentId ? -1 : 1))
    return { revision, value: { keys, byComponent } }
  }
}

/** Returns the key of a component; undefined if there is none or it cannot be read. */
async function parseKey(service: Service, realm: string, component: KeyComponent): Promise<RealmKey | undefined> {
  if (!isInKeyStore(component)) return parseRealmKey(component)
  try {
    return parseRealmKey(await readKeyStoreComponent(service, realm, component))
  } catch (error) {
    // The plan reports it, and so does the admin API when the component is created.
    if (error instanceof UnreadableKeyStore) return undefined
    throw error
  }
}
