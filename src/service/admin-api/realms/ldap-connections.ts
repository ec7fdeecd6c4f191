// The REST operations that try the settings of an LDAP directory before they are saved.
import { kinds } from '../../../kinds/index.ts'
import { readTextListMap } from '../../../kinds/json.ts'
import { MASK } from '../../../kinds/mask.ts'
import {
  type LdapConnection,
  LdapError,
  type LdapProblem,
  openLdapConnection,
} from '../../../lib/ldap/ldap-connection.ts'
import { readValues } from '../../../lib/ldap/ldap-entry.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { openSecrets } from '../../context/secrets.ts'
import type { Caller, Service } from '../../context/service.ts'
import { resolveSecret, UnresolvedReference } from '../../context/vault-directory.ts'
import { listObjects } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { isLdapStore, toLdapServer } from '../../users/user-store.ts'

/** The settings of a directory to try. Keycloak: TestLdapConnectionRepresentation. */
export interface LdapSettingsToTest {
  readonly realm: string
  readonly settings: TestedSettings
}

type TestedSettings = Readonly<Record<string, string | null | undefined>>

/** A control, an extended operation or a feature of a directory. */
export interface LdapCapability {
  readonly oid: string
  readonly type: 'CONTROL' | 'EXTENSION' | 'FEATURE'
}

/** Keycloak: the codes of problems, which its consoles translate. */
const codes: Readonly<Record<LdapProblem, string>> = {
  'invalid URL': 'MalformedURL',
  'unknown host': 'UnknownHost',
  'refused address': 'NamingError',
  'no connection': 'SocketReset',
  'no TLS': 'SSLHandshakeFailed',
  'no StartTLS': 'AuthenticationFailure',
  timeout: 'ConnectTimeout',
  'invalid credentials': 'AuthenticationFailure',
  'expired password': 'AuthenticationFailure',
  'no such entry': 'NamingError',
  'invalid name': 'InvalidName',
  'refused by the directory': 'NamingError',
}

/** Connects to a directory, and authenticates if the settings request it. Throws forbidden, and invalid with the code of the problem. */
export async function testLdapConnection(service: Service, caller: Caller, test: LdapSettingsToTest): Promise<void> {
  const { action, connectionUrl, bindDn, authType } = test.settings
  const credential = await readCredential(service, caller, test)
  if (action !== 'testConnection' && action !== 'testAuthentication') throw testError('NamingError')
  if (connectionUrl == null) throw testError('UnknownError')
  if (!connectionUrl) throw testError('NamingError')
  const isAuthenticated = action === 'testAuthentication' && authType !== 'none'
  if (isAuthenticated && !bindDn) throw testError('AuthenticationFailure')
  await explainProblem(() =>
    withConnection(service, { ...test, credential: isAuthenticated ? credential : undefined }, async () => {}),
  )
}

/** Returns the capabilities of a directory. Keycloak: none for any action but one. Throws forbidden, invalid. */
export async function listLdapCapabilities(
  service: Service,
  caller: Caller,
  test: LdapSettingsToTest,
): Promise<LdapCapability[]> {
  const credential = await readCredential(service, caller, test)
  if (test.settings.action !== 'queryServerCapabilities') return []
  try {
    return await withConnection(
      service,
      { ...test, credential: test.settings.authType === 'none' ? undefined : credential },
      readCapabilities,
    )
  } catch (error) {
    if (error instanceof LdapError || error instanceof UnresolvedReference)
      throw failure('invalid', 'ldapServerCapabilities error', { cause: error, reason: error.message })
    throw error
  }
}

const capabilities = [
  ['supportedControl', 'CONTROL'],
  ['supportedExtension', 'EXTENSION'],
  ['supportedFeatures', 'FEATURE'],
] as const

async function readCapabilities(connection: LdapConnection): Promise<LdapCapability[]> {
  const search = {
    base: '',
    scope: 'base',
    filter: '(objectClass=*)',
    attributes: capabilities.map(([attribute]) => attribute),
  } as const
  const listed: LdapCapability[] = []
  for await (const page of connection.search(search))
    for (const entry of page)
      for (const [attribute, type] of capabilities)
        listed.push(...readValues(entry, attribute).map((oid) => ({ oid, type })))
  return listed
}

interface TestCredential {
  readonly dn: string
  readonly password: string
}

async function withConnection<T>(
  service: Service,
  { realm, settings, credential }: LdapSettingsToTest & { readonly credential: TestCredential | undefined },
  work: (connection: LdapConnection) => Promise<T>,
): Promise<T> {
  const server = toLdapServer((name) => readSetting(settings, name))
  const connection = await openLdapConnection(service.outbound, server)
  try {
    if (credential) {
      const password = await resolveSecret(service.vaultDirectory, realm, credential.password)
      await connection.bind({ dn: credential.dn, password })
    }
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** Returns a setting as text; undefined if it is empty. */
function readSetting(settings: TestedSettings, name: string): string | undefined {
  const value = settings[name]
  return value === null || value === undefined ? undefined : String(value).trim() || undefined
}

/**
 * Returns the name and the password of the settings. A masked password is the stored one of the component, if it would be sent to the
 * stored address with the stored name: else it could be sent to any server. Throws forbidden.
 */
function readCredential(
  service: Service,
  caller: Caller,
  { realm, settings }: LdapSettingsToTest,
): Promise<TestCredential> {
  return service.read(caller, realm, async (context) => {
    requirePermissions(context, 'manage-realm')
    const dn = readSetting(settings, 'bindDn') ?? ''
    const password = readSetting(settings, 'bindCredential') ?? ''
    return { dn, password: password === MASK ? ((await findStoredPassword(context, settings)) ?? MASK) : password }
  })
}

async function findStoredPassword(context: Context, settings: TestedSettings): Promise<string | undefined> {
  const id = readSetting(settings, 'componentId')
  const [component] = id === undefined ? [] : await listObjects(context, 'component', { ids: [id] })
  if (!component || !isLdapStore(component)) return undefined
  const config = readTextListMap(openSecrets(context.vault, kinds.component, component.representation).config)
  const isSame = (name: string) => (config[name]?.[0] ?? '') === (readSetting(settings, name) ?? '')
  return isSame('connectionUrl') && isSame('bindDn') ? config.bindCredential?.[0] : undefined
}

async function explainProblem(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof UnresolvedReference) throw testError('AuthenticationFailure', error)
    if (!(error instanceof LdapError)) throw error
    throw testError(codes[error.problem], error)
  }
}

const testError = (code: string, cause?: Error) =>
  failure('invalid', code, { form: 'errorMessage', cause, ...(cause && { detail: cause.message }) })
