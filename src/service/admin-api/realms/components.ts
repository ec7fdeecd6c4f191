// What REST does with components.
import { componentName, componentPath, parentComponentPath } from '../../../kinds/component.ts'
import {
  type ComponentType,
  findComponentType,
  findComponentTypes,
  JAVA_KEYSTORE,
  LDAP_MAPPER,
  secretSettings,
} from '../../../kinds/component-types.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import { generatedSettings } from '../../../kinds/key-providers.ts'
import { MASK } from '../../../kinds/mask.ts'
import { selectParents, setParents } from '../../../store/trees.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { openSecrets } from '../../context/secrets.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { removeRedirectedSecrets, omitNulls } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getObject, toNewObject, type AdminResource } from '../common/resource.ts'
import { ldapMappersOf, ldapMapperTypes, ldapSettings } from './ldap.ts'

const NOT_FOUND = 'Could not find component'
const UNKNOWN = 'Invalid provider type or no such provider'
/** Keycloak: what these types do has operations of its own. */
const INTERNAL = ['org.keycloak.models.workflow.WorkflowProvider', 'org.keycloak.models.workflow.WorkflowStepProvider']

type Settings = Record<string, string[]>

/** Keycloak: ComponentResource. */
export const components: AdminResource = {
  kind: 'component',
  view: 'view-realm',
  manage: 'manage-realm',
  async checkAccess(context, { id }) {
    requirePermissions(context, 'manage-realm')
    if (id !== undefined) await find(context, id)
  },
  async list(context, _place, { parent, type, name }) {
    requirePermissions(context, 'view-realm')
    const shown = await showAll(context, await writers.component.list(context, {}))
    // Keycloak: a type alone means those that belong to the realm itself.
    const above = parent ?? (type === undefined ? undefined : context.realm.id)
    return shown.filter(
      (one) =>
        (above === undefined || one.parentId === above) &&
        (type === undefined || one.providerType === type) &&
        (name === undefined || one.name === name),
    )
  },
  async get(context, { id }) {
    requirePermissions(context, 'view-realm')
    return (await showAll(context, [await find(context, id)]))[0]!
  },
  async create(context, _place, body) {
    requirePermissions(context, 'manage-realm')
    const parent = await parentOf(context, body.parentId)
    const { id, representation } = toNewObject(stated(body, parent?.key[0]))
    const known = demandProvider(representation)
    const given = { ...known.defaults, ...ldapSettings(representation) } as Settings
    const config = { ...given, ...(representation.config as Settings) }
    const [made] = await writers.component.create(context, [{ id, representation: { ...representation, config } }])
    const mappers = await writers.component.create(
      context,
      ldapMappersOf(made!.representation).map((mapper) => ({
        representation: {
          providerId: mapper.providerId,
          config: mapper.config,
          path: componentPath(made!.key[0]!, { providerType: LDAP_MAPPER, name: mapper.name }),
        },
      })),
    )
    await hang(context, parent?.id, [made!])
    await hang(context, made!.id, mappers)
    return made!.id
  },
  async replace(context, { id }, body) {
    requirePermissions(context, 'manage-realm')
    const live = await find(context, id)
    const parent = body.parentId == null ? undefined : await parentOf(context, body.parentId)
    const above = body.parentId == null ? parentComponentPath(live.key[0]!) : parent?.key[0]
    const now = { ...componentName(live.key[0]!) } as Representation
    const next = stated({ ...now, providerId: live.representation.providerId!, ...omitNulls(body) }, above)
    demandProvider(next)
    // Keycloak: what a provider makes for itself is never taken from a body, nor removed by one.
    const own = generatedSettings(String(next.providerId))
    const given = Object.entries(settingsSet((body.config ?? {}) as Representation))
    const set = {
      path: next.path!,
      providerId: next.providerId!,
      ...Object.fromEntries(given.filter(([path]) => !own.includes(path.slice('config.'.length)))),
    }
    const kept = body.parentId == null ? (await aboveOf(context, [live])).get(id) : parent?.id
    await writers.component.update(context, [
      { live, set: removeRedirectedSecrets(kinds.component, live.representation, set) },
    ])
    await hang(context, kept, [live])
  },
  async delete(context, { id }) {
    requirePermissions(context, 'manage-realm')
    await writers.component.delete(context, [await find(context, id)])
  },
}

/** A provider of parts of a component. */
export type SubType = ComponentType & { readonly id: string }

/** The providers of a type that a component takes parts of. Throws not_found, malformed. */
export async function subTypesOf(context: Context, id: string, type: string | undefined): Promise<SubType[]> {
  requirePermissions(context, 'view-realm')
  const { representation } = await getObject(context, 'component', { id, notFound: 'Could not find parent component' })
  if (!type) throw failure('invalid', 'must specify a subtype', { form: 'error' })
  const known = findComponentTypes(type)
  if (!known) throw failure('invalid', UNKNOWN, { form: 'error' })
  const types = Object.entries(known).map(([id, one]) => ({ id, ...one }))
  return type === LDAP_MAPPER ? ldapMapperTypes(types, (representation.config ?? {}) as Settings) : types
}

const find = (context: Context, id: string) => getObject(context, 'component', { id, notFound: NOT_FOUND })

async function showAll(context: Context, objects: readonly LiveObject[]): Promise<Representation[]> {
  const above = await aboveOf(context, objects)
  return objects.map((live) => show(context, live, above.get(live.id) ?? context.realm.id))
}

/** What components belong to, by id. One statement. */
function aboveOf({ tx, realm }: Context, objects: readonly LiveObject[]): Promise<ReadonlyMap<string, string>> {
  const ids = objects.map(({ id }) => id)
  return selectParents(tx, realm.number, { kind: 'component', ids })
}

/** Hangs components below one, if any: its path may be that of another one too. */
async function hang({ tx, realm }: WriteContext, parent: string | undefined, objects: readonly LiveObject[]) {
  if (parent === undefined) return
  const places = objects.map(({ id }) => ({ id, parent }))
  await setParents(tx, realm.number, { kind: 'component', objects: places })
}

/** Keycloak: a setting that the provider does not know is kept and not shown; a name in a vault is no secret. */
function show({ vault }: Context, live: LiveObject, parentId: string): Representation {
  const { providerId, config = {} } = openSecrets(vault, kinds.component, live.representation)
  const { name, providerType, subType } = componentName(live.key[0]!)
  const known = findComponentType(providerType, String(providerId))?.properties.map((property) => property.name)
  const settings = Object.entries(config as Settings).filter(([setting]) => known?.includes(setting) ?? true)
  const masked = ([setting, values]: [string, string[]]): [string, Json] => [
    setting,
    secretSettings.includes(setting) && !values.every((value) => /^\$\{vault\..*\}$/s.test(value)) ? [MASK] : values,
  ]
  return {
    id: live.id,
    ...(name !== undefined && { name }),
    ...(providerId !== undefined && { providerId }),
    providerType,
    parentId,
    ...(subType !== undefined && { subType }),
    config: Object.fromEntries(settings.map(masked)),
  }
}

/** A body in the form that is kept: a path in place of what it is made of. */
function stated(body: Representation, parent: string | undefined): Representation {
  const { id, name, providerType, subType, providerId, config } = omitNulls(body)
  const text = (value: Json | undefined) => (value === undefined || value === '' ? undefined : String(value))
  const path = componentPath(parent ?? '', {
    providerType: String(providerType ?? ''),
    subType: text(subType),
    name: text(name),
  })
  const settings = Object.entries(settingsSet((config ?? {}) as Representation)).flatMap(([setting, values]) =>
    values === null ? [] : [[setting.slice('config.'.length), values]],
  )
  return {
    ...(id !== undefined && { id }),
    path,
    ...(providerId !== undefined && { providerId }),
    config: Object.fromEntries(settings) as Representation,
  }
}

/** The settings that a body states: those without a text go, those that are masked stay, as do those that it leaves out. */
function settingsSet(config: Representation): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(config).flatMap(([setting, stated]): [string, Json][] => {
      const values = [stated ?? []].flat() as (string | null)[]
      if (!values[0]?.trim()) return [[`config.${setting}`, null]]
      const left = values.filter((value) => value?.trim() && value !== MASK) as string[]
      return left.length ? [[`config.${setting}`, left]] : []
    }),
  )
}

function demandProvider({ path, providerId }: Representation): ComponentType {
  const { providerType } = componentName(String(path))
  if (INTERNAL.includes(providerType))
    throw failure(
      'forbidden',
      'Components managed through internal APIs cannot be managed through the component endpoint',
    )
  const known = findComponentType(providerType, String(providerId))
  if (!known) throw failure('invalid', UNKNOWN, { form: 'error' })
  if (providerId === JAVA_KEYSTORE)
    throw failure('invalid', 'Regent reads no key stores of Java: state the key in a component of the provider rsa')
  return known
}

/** What a component is to belong to; undefined: the realm itself. Throws invalid where there is nothing. */
async function parentOf(context: WriteContext, id: Json | undefined): Promise<LiveObject | undefined> {
  if (id == null || id === context.realm.id) return undefined
  const [found] = await writers.component.list(context, { ids: [String(id)] })
  if (!found) throw failure('invalid', `There is no component with the id ${id}`)
  return found
}
