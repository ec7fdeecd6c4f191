// What REST does with required actions: they are named by alias, and stand in the order of their priorities.
import { requiredActionProviders } from '../../../kinds/authentication-providers.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { Property } from '../../../kinds/property.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { replacement, withoutNulls } from '../../objects/put.ts'
import { demand } from '../../permissions/administrators.ts'

/** The required actions of the realm, in order. */
export async function listActions(context: Context): Promise<Representation[]> {
  demand(context, 'list-required-actions')
  return (await inOrder(context)).map((live) => show(context, live))
}

/** Keycloak: those that set up a credential, by alias. */
const REGISTRATORS = [
  'CONFIGURE_TOTP',
  'webauthn-register',
  'webauthn-register-passwordless',
  'CONFIGURE_RECOVERY_AUTHN_CODES',
]

/** The aliases of the required actions by which people of the realm set up a credential, in order. */
export async function listRegistrators(context: Context): Promise<string[]> {
  demand(context, 'view-realm')
  const actions = (await inOrder(context)).filter(({ representation }) => representation.enabled === true)
  return actions
    .map(({ representation }) => String(representation.providerId))
    .filter((id) => REGISTRATORS.includes(id))
}

/** The required action with that alias. */
export async function getAction(context: Context, alias: string): Promise<Representation> {
  demand(context, 'view-realm')
  return show(context, await find(context, alias, 'Failed to find required action'))
}

/** Changes a required action. Keycloak: what it does stays. */
export async function replaceAction(context: WriteContext, alias: string, body: Representation): Promise<void> {
  demand(context, 'manage-realm')
  const live = await find(context, alias, 'Failed to find required action')
  const { providerId: _, ...stated } = withoutNulls(body)
  await writers.requiredAction.update(context, [{ live, set: replacement(live, { config: {}, ...stated }) }])
}

/** Takes a required action out of the realm. */
export async function deleteAction(context: WriteContext, alias: string): Promise<void> {
  demand(context, 'manage-realm')
  await writers.requiredAction.delete(context, [await find(context, alias, 'Failed to find required action.')])
}

/** The providers of which the realm has no required action. */
export async function listUnregistered(context: Context): Promise<Representation[]> {
  demand(context, 'view-realm')
  const registered = new Set((await inOrder(context)).map(({ representation }) => representation.providerId))
  return [...requiredActionProviders]
    .filter(([providerId]) => !registered.has(providerId))
    .map(([providerId, { name }]) => ({ providerId, name }))
}

/** Makes the required action of a provider, enabled and last. */
export async function registerAction(
  context: WriteContext,
  providerId: string | null | undefined,
  name: string | null | undefined,
): Promise<void> {
  demand(context, 'manage-realm')
  if (!providerId || !requiredActionProviders.has(providerId))
    throw failure('malformed', 'Required Action Provider with given providerId not found')
  const actions = await inOrder(context)
  if (actions.some(({ key }) => key[0] === providerId))
    throw failure('duplicate', 'A Required Action Provider with given alias already exists.')
  const priority = Number(actions.at(-1)?.representation.priority ?? 0) + 1
  const representation = { alias: providerId, providerId, ...(name && { name }), enabled: true, priority }
  const [made] = await writers.requiredAction.create(context, [{ representation }])
  describeEvent(context, { representation: { providerId, name: name ?? null, id: made!.id } })
}

/** Lets a required action change places with the one before it, or behind it. The first and the last stay. */
export async function moveAction(context: WriteContext, alias: string, by: -1 | 1): Promise<void> {
  demand(context, 'manage-realm')
  const actions = await inOrder(context)
  const at = actions.findIndex(({ key }) => key[0] === alias)
  if (at < 0) throw failure('not_found', 'Failed to find required action.')
  const [own, other] = [actions[at]!, actions[at + by]]
  if (!other) return
  await writers.requiredAction.update(context, [
    { live: own, set: { priority: other.representation.priority! } },
    { live: other, set: { priority: own.representation.priority! } },
  ])
}

/** What can be set of a required action. */
export function describeConfig(context: Context, alias: string): Representation {
  demand(context, 'view-realm')
  const properties = requiredActionProviders.get(alias)?.config
  if (!properties) throw failure('not_found', 'Could not find configurable RequiredAction provider')
  return { properties }
}

/** The settings of a required action. */
export async function getConfig(context: Context, alias: string): Promise<Representation> {
  demand(context, 'view-realm')
  configurable(alias)
  return { config: show(context, await find(context, alias, CONFIG_NOT_FOUND)).config! }
}

/** Sets a required action: what its provider does not describe is left out. Throws invalid, with params. */
export async function replaceConfig(context: WriteContext, alias: string, config: Representation): Promise<void> {
  demand(context, 'manage-realm')
  const properties = configurable(alias)
  const live = await find(context, alias, CONFIG_NOT_FOUND)
  describeEvent(context, { representation: { config } })
  const stated = properties.flatMap(({ name }) =>
    (config[name] ?? '') === '' ? [] : ([[name, config[name]!]] as const),
  )
  for (const [name, value] of stated) if (COUNTS.includes(name)) checkCount(name, String(value))
  await setConfig(context, live, Object.fromEntries(stated))
}

/** Takes all settings from a required action. */
export async function deleteConfig(context: WriteContext, alias: string): Promise<void> {
  demand(context, 'manage-realm')
  configurable(alias)
  await setConfig(context, await find(context, alias, CONFIG_NOT_FOUND), {})
}

async function setConfig(context: WriteContext, live: LiveObject, config: Representation): Promise<void> {
  const set = Object.entries(replacement(live, { config })).filter(([path]) => path.startsWith('config.'))
  await writers.requiredAction.update(context, [{ live, set: Object.fromEntries(set) }])
}

const CONFIG_NOT_FOUND = 'Could not find RequiredAction config'
/** Keycloak: the settings that it checks. */
const COUNTS = ['max_auth_age', 'warning_threshold']

function checkCount(name: string, value: string): void {
  const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN
  if (!(Math.abs(number) < 2 ** 31)) throw failure('invalid', 'error-invalid-value', { params: [name] })
  if (number < 0) throw failure('invalid', 'error-number-out-of-range-too-small', { params: [name, 0] })
}

/** Keycloak: whether there is something to be set is a question of the alias. */
function configurable(alias: string): readonly Property[] {
  const properties = requiredActionProviders.get(alias)?.config
  if (!properties) throw failure('malformed', 'RequiredAction is not configurable')
  return properties
}

async function find(context: Context, alias: string, notFound: string): Promise<LiveObject> {
  const [found] = await writers.requiredAction.list(context, { keys: [[alias]] })
  if (!found) throw failure('not_found', notFound)
  return found
}

async function inOrder(context: Context): Promise<LiveObject[]> {
  const actions = await writers.requiredAction.list(context, {})
  return actions.sort((a, b) => Number(a.representation.priority) - Number(b.representation.priority))
}

/** Keycloak: a required action has no id on the wire. */
function show(context: Context, live: LiveObject): Representation {
  const { id: _, ...shown } = present(context.vault, live)
  return shown
}
