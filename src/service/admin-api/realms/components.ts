// The REST operations on components.
import { formatComponentPath, getParentComponentPath, parseComponentPath } from '../../../kinds/component.ts'
import {
  CLIENT_REGISTRATION_POLICY,
  type ComponentType,
  componentTypes,
  findComponentType,
  findComponentTypes,
  findSubType,
  LDAP_MAPPER,
  secretComponentSettings,
} from '../../../kinds/component-types.ts'
import { kinds } from '../../../kinds/index.ts'
import {
  type Json,
  omitUndefined,
  type Representation,
  readObject,
  readTextListMap,
  readTexts,
} from '../../../kinds/json.ts'
import { listGeneratedSettings } from '../../../kinds/key-providers.ts'
import { mapperTypes } from '../../../kinds/mapper-types.ts'
import { MASK } from '../../../kinds/mask.ts'
import { parseVaultReference } from '../../../kinds/vault-reference.ts'
import { selectParents, setParents } from '../../../store/trees.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { openSecrets } from '../../context/secrets.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live-objects.ts'
import { omitNulls, removeRedirectedSecrets } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { type AdminResource, getObject, toNewObject } from '../common/resource.ts'
import {
  adaptLdapMapperTypes,
  checkLdapMapper,
  getLdapDefaults,
  hasUnreadableSettings,
  listLdapMappers,
} from './ldap.ts'

const NOT_FOUND = 'Could not find component'
const UNKNOWN = 'Invalid provider type or no such provider'
/** Keycloak: components of these types have operations of their own. */
const INTERNAL = ['org.keycloak.models.workflow.WorkflowProvider', 'org.keycloak.models.workflow.WorkflowStepProvider']

/** The REST operations on components. Keycloak: ComponentResource. */
export const components: AdminResource = {
  kind: 'component',
  view: 'view-realm',
  manage: 'manage-realm',
  async checkAccess(context, { id }) {
    requirePermissions(context, 'manage-realm')
    if (id !== undefined) await getComponent(context, id)
  },
  async list(context, _address, query) {
    requirePermissions(context, 'view-realm')
    // Keycloak: an empty text counts as absent.
    const [parent, type, name] = [query.parent || undefined, query.type || undefined, query.name || undefined]
    const all = await toRepresentations(context, await writers.component.list(context, {}))
    // Keycloak: a filter by type without a parent matches only components of the realm itself.
    const isRealm = parent === context.realm.name || (parent === undefined && type !== undefined)
    const parentId = isRealm ? context.realm.id : parent
    return all.filter(
      (component) =>
        (parentId === undefined || component.parentId === parentId) &&
        (type === undefined || component.providerType === type) &&
        (name === undefined || component.name === name),
    )
  },
  async get(context, { id }) {
    requirePermissions(context, 'view-realm')
    return (await toRepresentations(context, [await getComponent(context, id)]))[0]!
  },
  async create(context, _address, body) {
    requirePermissions(context, 'manage-realm')
    const parent = await findParent(context, body.parentId)
    const { id, representation } = toNewObject(toDeclaredComponent(body, parent?.key[0]))
    const { defaults } = requireProvider(representation)
    await checkLdapMapper(context, representation, parent?.id)
    const config = { ...defaults, ...getLdapDefaults(representation), ...readObject(representation.config) }
    const [component] = await writers.component.create(context, [{ id, representation: { ...representation, config } }])
    const mappers = await writers.component.create(
      context,
      listLdapMappers(component!.representation).map((mapper) => ({
        representation: {
          providerId: mapper.providerId,
          config: mapper.config,
          path: formatComponentPath(component!.key[0]!, { providerType: LDAP_MAPPER, name: mapper.name }),
        },
      })),
    )
    await setParent(context, parent?.id, [component!])
    await setParent(context, component!.id, mappers)
    return component!.id
  },
  async replace(context, { id }, body) {
    requirePermissions(context, 'manage-realm')
    const live = await getComponent(context, id)
    const isMoved = body.parentId != null
    const parent = isMoved ? await findParent(context, body.parentId) : undefined
    const parentPath = isMoved ? parent?.key[0] : getParentComponentPath(live.key[0]!)
    const now = omitUndefined({ ...parseComponentPath(live.key[0]!), providerId: live.representation.providerId })
    const next = toDeclaredComponent({ ...now, ...omitNulls(body) }, parentPath)
    requireProvider(next)
    const parentId = isMoved ? parent?.id : (await readParentIds(context, [live])).get(id)
    await checkLdapMapper(context, next, parentId)
    // Keycloak: a body neither sets nor removes settings that a provider generates.
    const generated = listGeneratedSettings(String(next.providerId))
    const changes = Object.entries(toSettingChanges(readObject(body.config)))
    const set = {
      path: next.path!,
      providerId: next.providerId!,
      ...Object.fromEntries(changes.filter(([path]) => !generated.includes(path.slice('config.'.length)))),
    }
    await writers.component.update(context, [
      { live, set: removeRedirectedSecrets(kinds.component, live.representation, set) },
    ])
    await setParent(context, parentId, [live])
  },
  async delete(context, { id }) {
    requirePermissions(context, 'manage-realm')
    await writers.component.delete(context, [await getComponent(context, id)])
  },
}

/** A provider of subcomponents. */
export type ComponentSubType = ComponentType & { readonly id: string }

/** Lists the providers that a component can have subcomponents of; with a type, only those. Throws not_found, invalid. */
export async function listSubTypes(
  context: Context,
  id: string,
  type: string | undefined,
): Promise<ComponentSubType[]> {
  requirePermissions(context, 'view-realm')
  const { key, representation } = await getObject(context, 'component', {
    id,
    notFound: 'Could not find parent component',
  })
  const { providerType } = parseComponentPath(key[0]!)
  // Keycloak: without a type it returns 400.
  const subType = type || findSubType(providerType, String(representation.providerId))
  if (!subType) return []
  const typesById = findComponentTypes(subType)
  if (!typesById) throw failure('invalid', UNKNOWN, { form: 'error' })
  const types = Object.entries(typesById).map(([id, componentType]) => ({ id, ...componentType }))
  return subType === LDAP_MAPPER ? adaptLdapMapperTypes(types, readTextListMap(representation.config)) : types
}

/** Keycloak: the scope of OpenID Connect requests, which is no client scope, can be permitted like one. */
const OPENID_SCOPE = 'openid'

/** Lists the providers of client registration policies, with the values that their settings can have in the realm. One statement. */
export async function listRegistrationPolicyProviders(context: Context): Promise<ComponentSubType[]> {
  requirePermissions(context, 'view-realm')
  const scopes = await listObjects(context, 'clientScope', {})
  const options: Readonly<Record<string, readonly string[]>> = {
    'allowed-client-scopes': [...scopes.map(({ key }) => key[0]!), OPENID_SCOPE],
    'allowed-protocol-mapper-types': Object.keys(mapperTypes),
  }
  return Object.entries(componentTypes[CLIENT_REGISTRATION_POLICY]!).map(([id, type]) => ({
    id,
    ...type,
    properties: type.properties.map((property) => {
      const values = options[property.name]
      return values ? { ...property, options: values } : property
    }),
  }))
}

const getComponent = (context: Context, id: string) => getObject(context, 'component', { id, notFound: NOT_FOUND })

async function toRepresentations(context: Context, objects: readonly LiveObject[]): Promise<Representation[]> {
  const parentIds = await readParentIds(context, objects)
  return objects.map((live) => toRepresentation(context, live, parentIds.get(live.id) ?? context.realm.id))
}

/** Returns the ids of the components that components belong to, by id. One statement. */
function readParentIds({ tx, realm }: Context, objects: readonly LiveObject[]): Promise<ReadonlyMap<string, string>> {
  const ids = objects.map(({ id }) => id)
  return selectParents(tx, realm.number, { kind: 'component', ids })
}

/** Stores the parent of components, if they have one. A path does not identify the parent: names may repeat. */
async function setParent({ tx, realm }: WriteContext, parent: string | undefined, components: readonly LiveObject[]) {
  if (parent === undefined) return
  const objects = components.map(({ id }) => ({ id, parent }))
  await setParents(tx, realm.number, { kind: 'component', objects })
}

/** Keycloak: settings that the provider does not have are stored only; a reference to an entry of a vault is not masked. */
function toRepresentation({ vault }: Context, live: LiveObject, parentId: string): Representation {
  const { providerId, config } = openSecrets(vault, kinds.component, live.representation)
  const { name, providerType, subType } = parseComponentPath(live.key[0]!)
  const properties = findComponentType(providerType, String(providerId))?.properties
  const isVisible = (setting: string) => properties?.some((property) => property.name === setting) ?? true
  const isMasked = (setting: string, values: readonly string[]) =>
    secretComponentSettings.includes(setting) && !values.every(parseVaultReference)
  const settings = Object.entries(readTextListMap(config)).flatMap(([setting, values]): [string, Json][] =>
    isVisible(setting) ? [[setting, isMasked(setting, values) ? [MASK] : values]] : [],
  )
  return {
    id: live.id,
    ...(name !== undefined && { name }),
    ...(providerId !== undefined && { providerId }),
    providerType,
    parentId,
    ...(subType !== undefined && { subType }),
    config: Object.fromEntries(settings),
  }
}

/** Returns the fields that a body declares as they are stored: a path instead of the name, the types and the parent. */
function toDeclaredComponent(body: Representation, parentPath: string | undefined): Representation {
  const { id, name, providerType, subType, providerId, config } = omitNulls(body)
  const text = (value: Json | undefined) => (value === undefined || value === '' ? undefined : String(value))
  const path = formatComponentPath(parentPath ?? '', {
    providerType: String(providerType ?? ''),
    subType: text(subType),
    name: text(name),
  })
  const settings = Object.entries(toSettingChanges(readObject(config))).flatMap(
    ([setting, values]): [string, Json][] => (values === null ? [] : [[setting.slice('config.'.length), values]]),
  )
  return {
    ...(id !== undefined && { id }),
    path,
    ...(providerId !== undefined && { providerId }),
    config: Object.fromEntries(settings),
  }
}

/** Returns the changes of settings that a body declares: empty ones are removed; those that are masked or absent stay. */
function toSettingChanges(config: Representation): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(config).flatMap(([setting, value]): [string, Json][] => {
      const texts = typeof value === 'string' ? [value] : readTexts(value)
      if (!texts[0]?.trim()) return [[`config.${setting}`, null]]
      const changed = texts.filter((text) => text.trim() && text !== MASK)
      return changed.length ? [[`config.${setting}`, changed]] : []
    }),
  )
}

function requireProvider({ path, providerId, config }: Representation): ComponentType {
  const { providerType } = parseComponentPath(String(path))
  if (INTERNAL.includes(providerType))
    throw failure(
      'forbidden',
      'Components managed through internal APIs cannot be managed through the component endpoint',
    )
  const type = findComponentType(providerType, String(providerId))
  if (!type || hasUnreadableSettings({ path: path!, providerId: providerId!, config: config ?? {} }))
    throw failure('invalid', UNKNOWN, { form: 'error' })
  return type
}

/** Returns the component with that id; undefined for the id or the name of the realm. Throws invalid if there is none. */
async function findParent(context: WriteContext, id: Json | undefined): Promise<LiveObject | undefined> {
  if (id == null || id === context.realm.id || id === context.realm.name) return undefined
  const [component] = await writers.component.list(context, { ids: [String(id)] })
  if (!component) throw failure('invalid', `There is no component with the id ${id}`)
  return component
}
