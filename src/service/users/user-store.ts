// The LDAP user stores of a realm, with their mappers, in the form in which their settings are used.
import { parseComponentPath } from '../../kinds/component.ts'
import { LDAP_MAPPER, USER_STORAGE } from '../../kinds/component-types.ts'
import { kinds } from '../../kinds/index.ts'
import { readFlag, readTextListMap } from '../../kinds/json.ts'
import type { LdapServer } from '../../lib/ldap/ldap-connection.ts'
import { selectParents } from '../../store/trees.ts'
import type { Context } from '../context/context.ts'
import { openSecrets } from '../context/secrets.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'

/** Returns the first value of a setting; undefined if it is missing or empty. */
export type SettingReader = (name: string) => string | undefined

/** A mapper of a user store: how attributes, roles and groups of users follow from entries. */
export interface StoreMapper {
  readonly id: string
  readonly name: string
  readonly providerId: string
  readonly read: SettingReader
}

/** Keycloak: who writes to the directory. */
export type EditMode = (typeof editModes)[number]

/** The values of `editMode`: where changes of users are written. Keycloak: UserStorageProvider.EditMode. */
export const editModes = ['READ_ONLY', 'WRITABLE', 'UNSYNCED'] as const

/** An LDAP user store: a user federation provider of the type `ldap`. */
export interface UserStore {
  readonly id: string
  readonly name: string
  /** The name of the realm, to which references to the vault belong. */
  readonly realm: string
  readonly isEnabled: boolean
  /** Whether users are imported by synchronizations, and not only if they log in or are found. */
  readonly synchronizes: boolean
  readonly editMode: EditMode
  readonly syncsRegistrations: boolean
  readonly vendor: string
  readonly server: LdapServer
  /** Undefined: searches are anonymous. */
  readonly credential: { readonly dn: string; readonly password: string } | undefined
  readonly usersDn: string
  /** The DN of the folder in which users are created. */
  readonly createDn: string
  readonly scope: 'one' | 'sub'
  readonly usernameAttribute: string
  readonly rdnAttribute: string
  readonly uuidAttribute: string
  readonly objectClasses: readonly string[]
  readonly customFilter: string | undefined
  /** Entries of a page of searches; undefined: searches are not paged. */
  readonly pageSize: number | undefined
  /** Users that a synchronization writes in one transaction. */
  readonly batchSize: number
  readonly trustsEmail: boolean
  /** Whether users whose entries no longer exist are deleted. */
  readonly removesInvalidUsers: boolean
  readonly usesPasswordExtension: boolean
  readonly validatesPasswords: boolean
  readonly priority: number
  readonly mappers: readonly StoreMapper[]
}

const PAGE_SIZE = 1000
const CONNECT_TIMEOUT_MS = 5_000
const READ_TIMEOUT_MS = 15_000

/** Lists the user stores of a realm by priority, enabled or not. Two statements, or fewer where a read finds the components in the cache. */
export async function listUserStores(context: Context): Promise<UserStore[]> {
  const components = await listObjects(context, 'component', {})
  const stores = components.filter(isLdapStore)
  if (!stores.length) return []
  const mappers = components.filter(({ key }) => parseComponentPath(key[0]!).providerType === LDAP_MAPPER)
  const parents = await selectParents(context.tx, context.realm.number, {
    kind: 'component',
    ids: mappers.map(({ id }) => id),
  })
  return stores
    .map((store) =>
      toUserStore(
        context,
        store,
        mappers.filter(({ id }) => parents.get(id) === store.id).map((mapper) => toMapper(context, mapper)),
      ),
    )
    .sort((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1))
}

/** Returns the user stores of a realm by id. Two statements, or fewer; none without user stores. */
export async function mapUserStores(context: Context): Promise<ReadonlyMap<string, UserStore>> {
  if (!context.realm.hasUserStores) return new Map()
  return new Map((await listUserStores(context)).map((store) => [store.id, store]))
}

/** Whether a component is an LDAP user store. */
export function isLdapStore({ key, representation }: Pick<LiveObject, 'key' | 'representation'>): boolean {
  return representation.providerId === 'ldap' && parseComponentPath(key[0]!).providerType === USER_STORAGE
}

/** Returns a function that reads the settings of a component, secrets in plain text. */
function createSettingReader({ vault }: Context, { representation }: LiveObject): SettingReader {
  const config = readTextListMap(openSecrets(vault, kinds.component, representation).config)
  return (name) => config[name]?.[0]?.trim() || undefined
}

function toMapper(context: Context, component: LiveObject): StoreMapper {
  return {
    id: component.id,
    name: parseComponentPath(component.key[0]!).name ?? '',
    providerId: String(component.representation.providerId),
    read: createSettingReader(context, component),
  }
}

function toUserStore(context: Context, component: LiveObject, mappers: readonly StoreMapper[]): UserStore {
  const read = createSettingReader(context, component)
  const vendor = read('vendor') ?? 'other'
  const usernameAttribute = read('usernameLDAPAttribute') ?? (vendor === 'ad' ? 'cn' : 'uid')
  const usersDn = read('usersDn') ?? ''
  const relative = read('relativeCreateDn')
  return {
    id: component.id,
    name: parseComponentPath(component.key[0]!).name ?? '',
    realm: context.realm.name,
    isEnabled: readFlag(read('enabled'), true),
    synchronizes: readFlag(read('importEnabled'), true),
    editMode: editModes.find((mode) => mode === read('editMode')) ?? 'READ_ONLY',
    syncsRegistrations: readFlag(read('syncRegistrations')),
    vendor,
    server: toLdapServer(read),
    credential: toCredential(read),
    usersDn,
    createDn: relative === undefined ? usersDn : `${relative},${usersDn}`,
    scope: read('searchScope') === '2' ? 'sub' : 'one',
    usernameAttribute,
    rdnAttribute: read('rdnLDAPAttribute') ?? usernameAttribute,
    uuidAttribute: read('uuidLDAPAttribute') ?? (vendor === 'ad' ? 'objectGUID' : 'entryUUID'),
    objectClasses: (read('userObjectClasses') ?? 'inetOrgPerson, organizationalPerson')
      .split(',')
      .map(trim)
      .filter(Boolean),
    customFilter: read('customUserSearchFilter'),
    pageSize: readFlag(read('pagination')) ? PAGE_SIZE : undefined,
    batchSize: readPositive(read('batchSizeForSync')) ?? PAGE_SIZE,
    trustsEmail: readFlag(read('trustEmail')),
    removesInvalidUsers: readFlag(read('removeInvalidUsersEnabled'), true),
    usesPasswordExtension: readFlag(read('usePasswordModifyExtendedOp')),
    validatesPasswords: readFlag(read('validatePasswordPolicy')),
    priority: Number(read('priority') ?? 0),
    mappers,
  }
}

const trim = (text: string) => text.trim()

/** Returns the server of the settings. Keycloak: several URLs are separated by spaces. */
export function toLdapServer(read: SettingReader): LdapServer {
  return {
    urls: (read('connectionUrl') ?? '').split(/\s+/).filter(Boolean),
    startTls: readFlag(read('startTls')),
    connectTimeout: readPositive(read('connectionTimeout')) ?? CONNECT_TIMEOUT_MS,
    readTimeout: readPositive(read('readTimeout')) ?? READ_TIMEOUT_MS,
  }
}

function toCredential(read: SettingReader): UserStore['credential'] {
  if (read('authType') === 'none') return undefined
  return { dn: read('bindDn') ?? '', password: read('bindCredential') ?? '' }
}

/** Returns a number that is greater than zero; undefined for any other value. */
export function readPositive(text: string | undefined): number | undefined {
  const number = Number(text ?? 0)
  return number > 0 ? number : undefined
}
