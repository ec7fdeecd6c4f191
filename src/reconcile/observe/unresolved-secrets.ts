// The declared secrets that are files of the server, and are not there or cannot be read.
import { unflatten } from '../../kinds/compare.ts'
import { JAVA_KEYSTORE } from '../../kinds/component-types.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, readTextListMap } from '../../kinds/json.ts'
import { listVaultReferences } from '../../kinds/vault-reference.ts'
import { resolveSecret, UnresolvedReference, type VaultDirectory } from '../../service/context/vault-directory.ts'
import { type KeyDirectories, readKeyStoreComponent, UnreadableKeyStore } from '../../service/realms/key-store-keys.ts'
import { firstValue } from '../../service/realms/realm-keys.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { UnresolvedSecret } from '../model/plan-input.ts'

/** Returns the declared secrets of a realm that refer to the vault or a key store, and are not there. Disabled objects do not need theirs. */
export async function findUnresolvedSecrets(
  directories: KeyDirectories,
  { name, objects }: DesiredRealm,
): Promise<UnresolvedSecret[]> {
  const { vaultDirectory } = directories
  const unresolved: UnresolvedSecret[] = []
  for (const object of objects.values()) {
    unresolved.push(...(await findUnreadableKeyStore(directories, name, object)))
    if (!object.secrets || object.fields.get('enabled')?.value === false) continue
    for (const [path, value] of Object.entries(object.secrets))
      unresolved.push(...(await findUnresolvedReferences(vaultDirectory, name, { object, path, value })))
  }
  return unresolved
}

/** Returns the key store of a declared key provider if its key cannot be read. */
async function findUnreadableKeyStore(
  directories: KeyDirectories,
  realm: string,
  { kind, key, fields, secrets = {}, origin }: DesiredObject,
): Promise<UnresolvedSecret[]> {
  if (kind !== 'component' || fields.get('providerId')?.value !== JAVA_KEYSTORE) return []
  if (directories.keyStoreDirectory.isUnknown) return []
  const values = Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
  const { config } = unflatten(kinds.component, { ...values, ...secrets })
  const component = { id: '', version: 0, providerId: JAVA_KEYSTORE, config: readTextListMap(config) }
  try {
    await readKeyStoreComponent(directories, realm, component)
    return []
  } catch (error) {
    if (!(error instanceof UnreadableKeyStore)) throw error
    const path = 'config.keystore'
    const reference = firstValue(component.config, 'keystore') ?? 'the key store'
    return [{ kind, key, path, reference, advice: error.message, position: origin.locate(path) }]
  }
}

async function findUnresolvedReferences(
  vaultDirectory: VaultDirectory,
  realm: string,
  { object, path, value }: { readonly object: DesiredObject; readonly path: string; readonly value: Json },
): Promise<UnresolvedSecret[]> {
  const { kind, key, fields, origin } = object
  const position = (fields.get(path)?.origin ?? origin).locate(path)
  const attempts = listVaultReferences(kinds[kind], path, value).map(async (reference) => {
    try {
      await resolveSecret(vaultDirectory, realm, reference)
      return []
    } catch (error) {
      if (!(error instanceof UnresolvedReference)) throw error
      return [{ kind, key, path, reference, advice: error.advice, position }]
    }
  })
  return (await Promise.all(attempts)).flat()
}
