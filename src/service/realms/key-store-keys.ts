// Keys of realms in key stores. Keycloak: JavaKeystoreKeyProvider.
import { basename } from 'node:path/posix'
import { JAVA_KEYSTORE } from '../../kinds/component-types.ts'
import { MASK } from '../../kinds/mask.ts'
import { KeyStoreError } from '../../lib/key-stores/key-store.ts'
import { failure } from '../context/errors.ts'
import type { Service } from '../context/service.ts'
import { resolveSecret, UnresolvedReference } from '../context/vault-directory.ts'
import { firstValue, type KeyComponent, type KeyComponentConfig, parsePrivateKey } from './realm-keys.ts'

/** Reports why the key of a key store cannot be used. */
export class UnreadableKeyStore extends Error {
  override readonly name = 'UnreadableKeyStore'
}

/** Whether a component has its key in a key store. */
export const isInKeyStore = ({ providerId }: Pick<KeyComponent, 'providerId'>): boolean => providerId === JAVA_KEYSTORE

/** The directories of a server with key stores and with their passwords. */
export type KeyDirectories = Pick<Service, 'keyStoreDirectory' | 'vaultDirectory'>

/** Returns a component with a key of a key store as one that has the key in its config. @throws UnreadableKeyStore */
export async function readKeyStoreComponent(
  directories: KeyDirectories,
  realm: string,
  component: KeyComponent,
): Promise<KeyComponent> {
  const { config } = component
  const { privateKey, certificate } = await readEntry(directories, realm, config)
  const key = privateKey && parsePrivateKey(Buffer.from(privateKey).toString('base64'))
  const type = key?.asymmetricKeyType
  if (!key || !type) throw new UnreadableKeyStore('The alias is that of a certificate without a key.')
  const [providerId, setting] = providers[type] ?? []
  if (providerId === undefined || setting === undefined)
    throw new UnreadableKeyStore(`Keys of the type ${type} are not supported.`)
  const text = key.export({ type: 'pkcs8', format: 'der' }).toString('base64')
  return {
    ...component,
    providerId,
    config: {
      ...config,
      [setting]: [text],
      ...(certificate && { certificate: [Buffer.from(certificate).toString('base64')] }),
    },
  }
}

/** The provider that has a key of a type in its config, and the name of the setting. */
const providers: Readonly<Record<string, readonly [providerId: string, setting: string]>> = {
  rsa: ['rsa', 'privateKey'],
  ec: ['ecdsa-generated', 'ecdsaPrivateKey'],
  ed25519: ['eddsa-generated', 'eddsaPrivateKey'],
}

async function readEntry(
  { keyStoreDirectory, vaultDirectory }: KeyDirectories,
  realm: string,
  config: KeyComponentConfig,
) {
  // Exports have paths of the server that they come from.
  const fileName = basename(firstValue(config, 'keystore') ?? '')
  const bytes = await keyStoreDirectory.read(fileName)
  if (!bytes)
    throw new UnreadableKeyStore(
      keyStoreDirectory.isSet
        ? `Add the file ${fileName} to the directory of --key-store-dir, readable by the server.`
        : `Start the server with --key-store-dir, a directory with the file ${fileName}.`,
    )
  const resolve = async (setting: string) => {
    const value = firstValue(config, setting)
    return value === undefined ? undefined : await resolveSecret(vaultDirectory, realm, value)
  }
  try {
    const passwords = {
      storePassword: (await resolve('keystorePassword')) ?? '',
      keyPassword: await resolve('keyPassword'),
    }
    const format = firstValue(config, 'keystoreType')?.toUpperCase() === 'PKCS12' ? 'PKCS12' : 'JKS'
    // node-forge is loaded by the first key store.
    const { readKeyStore } = await import('../../lib/key-stores/run.ts')
    return await readKeyStore({ format, bytes, alias: firstValue(config, 'keyAlias') ?? '', passwords })
  } catch (error) {
    if (error instanceof UnresolvedReference) throw new UnreadableKeyStore(error.advice)
    if (error instanceof KeyStoreError) throw new UnreadableKeyStore(messages[error.problem])
    throw error
  }
}

const messages: Readonly<Record<KeyStoreError['problem'], string>> = {
  alias: 'The key store has no key with this alias.',
  'store password': 'The password of the key store is wrong.',
  'key password': 'The password of the key is wrong.',
  characters: 'The password of a PKCS#12 file may have ASCII characters only.',
  time: 'Opening the key store takes too long: use fewer iterations for its password.',
  format: 'The file is no key store of the type JKS or PKCS12.',
}

/** Throws invalid where the key of a component is in a key store that cannot be read. Masked passwords are not tried. */
export async function requireReadableKey(
  directories: KeyDirectories,
  realm: string,
  config: KeyComponentConfig,
): Promise<void> {
  const isMaskedPassword = ['keystorePassword', 'keyPassword'].some((setting) => config[setting]?.includes(MASK))
  if (isMaskedPassword) return
  try {
    await readKeyStoreComponent(directories, realm, { id: '', version: 0, providerId: JAVA_KEYSTORE, config })
  } catch (error) {
    if (!(error instanceof UnreadableKeyStore)) throw error
    throw failure('invalid', `Failed to load keys. ${error.message}`, { cause: error })
  }
}
