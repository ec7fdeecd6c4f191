// The REST operations on required actions. They are found by alias and listed by priority.
import { requiredActionProviders } from '../../../kinds/authentication-providers.ts'
import type { ConfigProperty } from '../../../kinds/config-property.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls, toReplacement } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'

/** Lists the required actions of the realm, by priority. */
export async function listActions(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'list-required-actions')
  return (await listByPriority(context)).map((live) => toRepresentation(context, live))
}

/** Lists the required actions of the realm, by priority, with whether each has settings. */
export async function listConfigurableActions(context: Context): Promise<Representation[]> {
  return (await listActions(context)).map((action) => ({
    ...action,
    configurable: requiredActionProviders.get(String(action.providerId))?.config !== undefined,
  }))
}

/** Keycloak: the actions that set up a credential, by alias. */
const REGISTERING_ACTIONS = [
  'CONFIGURE_TOTP',
  'webauthn-register',
  'webauthn-register-passwordless',
  'CONFIGURE_RECOVERY_AUTHN_CODES',
]

/** Lists the aliases of the enabled required actions that set up a credential, by priority. */
export async function listCredentialActions(context: Context): Promise<string[]> {
  requirePermissions(context, 'view-realm')
  const actions = (await listByPriority(context)).filter(({ representation }) => representation.enabled === true)
  return actions
    .map(({ representation }) => String(representation.providerId))
    .filter((id) => REGISTERING_ACTIONS.includes(id))
}

/** Returns the required action with that alias. Throws not_found. */
export async function getAction(context: Context, alias: string): Promise<Representation> {
  requirePermissions(context, 'view-realm')
  return toRepresentation(context, await getLiveAction(context, alias, 'Failed to find required action'))
}

/** Replaces a required action. Keycloak: `providerId` in the body is ignored. */
export async function replaceAction(context: WriteContext, alias: string, body: Representation): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await getLiveAction(context, alias, 'Failed to find required action')
  const { providerId: _, ...fields } = omitNulls(body)
  await writers.requiredAction.update(context, [{ live, set: toReplacement(live, { config: {}, ...fields }) }])
}

/** Deletes a required action. */
export async function deleteAction(context: WriteContext, alias: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  await writers.requiredAction.delete(context, [await getLiveAction(context, alias, 'Failed to find required action.')])
}

/** Lists the providers that have no required action in the realm. */
export async function listUnregisteredProviders(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'view-realm')
  const registered = new Set((await listByPriority(context)).map(({ representation }) => representation.providerId))
  return [...requiredActionProviders]
    .filter(([providerId]) => !registered.has(providerId))
    .map(([providerId, { name }]) => ({ providerId, name }))
}

/** Creates the required action of a provider, enabled and in the last position. */
export async function registerAction(
  context: WriteContext,
  providerId: string | null | undefined,
  name: string | null | undefined,
): Promise<void> {
  requirePermissions(context, 'manage-realm')
  if (!providerId || !requiredActionProviders.has(providerId))
    throw failure('invalid', 'Required Action Provider with given providerId not found', { form: 'error' })
  const actions = await listByPriority(context)
  if (actions.some(({ key }) => key[0] === providerId))
    throw failure('conflict', 'A Required Action Provider with given alias already exists.', {
      form: { error: 'conflict' },
    })
  const priority = Number(actions.at(-1)?.representation.priority ?? 0) + 1
  const representation = { alias: providerId, providerId, ...(name && { name }), enabled: true, priority }
  const [action] = await writers.requiredAction.create(context, [{ representation }])
  describeAdminEvent(context, { representation: { providerId, name: name ?? null, id: action!.id } })
}

/** Swaps a required action with the one before it (-1) or after it (1). Nothing changes where there is none. */
export async function moveAction(context: WriteContext, alias: string, by: -1 | 1): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const actions = await listByPriority(context)
  const at = actions.findIndex(({ key }) => key[0] === alias)
  if (at < 0) throw failure('not_found', 'Failed to find required action.')
  const [action, neighbour] = [actions[at]!, actions[at + by]]
  if (!neighbour) return
  await writers.requiredAction.update(context, [
    { live: action, set: { priority: neighbour.representation.priority! } },
    { live: neighbour, set: { priority: action.representation.priority! } },
  ])
}

/** Describes the settings of a required action. Throws not_found if it has none. */
export function describeActionConfig(context: Context, alias: string): Representation {
  requirePermissions(context, 'view-realm')
  const properties = requiredActionProviders.get(alias)?.config
  if (!properties) throw failure('not_found', 'Could not find configurable RequiredAction provider')
  return { properties }
}

/** Returns the settings of a required action. */
export async function getActionConfig(context: Context, alias: string): Promise<Representation> {
  requirePermissions(context, 'view-realm')
  getConfigProperties(alias)
  return { config: toRepresentation(context, await getLiveAction(context, alias, CONFIG_NOT_FOUND)).config! }
}

/** Replaces the settings of a required action; those that its provider does not describe are ignored. Throws invalid, with params. */
export async function replaceActionConfig(context: WriteContext, alias: string, config: Representation): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const properties = getConfigProperties(alias)
  const live = await getLiveAction(context, alias, CONFIG_NOT_FOUND)
  describeAdminEvent(context, { representation: { config } })
  const settings = properties.flatMap(({ name }) =>
    (config[name] ?? '') === '' ? [] : ([[name, config[name]!]] as const),
  )
  for (const [name, value] of settings) if (COUNTS.includes(name)) checkCount(name, String(value))
  await setConfig(context, live, Object.fromEntries(settings))
}

/** Deletes all settings of a required action. */
export async function deleteActionConfig(context: WriteContext, alias: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  getConfigProperties(alias)
  await setConfig(context, await getLiveAction(context, alias, CONFIG_NOT_FOUND), {})
}

async function setConfig(context: WriteContext, live: LiveObject, config: Representation): Promise<void> {
  const set = Object.entries(toReplacement(live, { config })).filter(([path]) => path.startsWith('config.'))
  await writers.requiredAction.update(context, [{ live, set: Object.fromEntries(set) }])
}

const CONFIG_NOT_FOUND = 'Could not find RequiredAction config'
/** Keycloak: the settings that are checked, as counts from 0. */
const COUNTS = ['max_auth_age', 'warning_threshold']

function checkCount(name: string, value: string): void {
  const number = /^[+-]?\d+$/.test(value) ? Number(value) : Number.NaN
  if (!(Math.abs(number) < 2 ** 31)) throw failure('invalid', 'error-invalid-value', { params: [name] })
  if (number < 0) throw failure('invalid', 'error-number-out-of-range-too-small', { params: [name, 0] })
}

/** Returns the settings of a required action. Throws invalid if it has none. Keycloak: the alias decides, not the provider. */
function getConfigProperties(alias: string): readonly ConfigProperty[] {
  const properties = requiredActionProviders.get(alias)?.config
  if (!properties) throw failure('invalid', 'RequiredAction is not configurable', { form: 'error' })
  return properties
}

async function getLiveAction(context: Context, alias: string, notFound: string): Promise<LiveObject> {
  const [action] = await writers.requiredAction.list(context, { keys: [[alias]] })
  if (!action) throw failure('not_found', notFound)
  return action
}

async function listByPriority(context: Context): Promise<LiveObject[]> {
  const actions = await writers.requiredAction.list(context, {})
  return actions.sort((a, b) => Number(a.representation.priority) - Number(b.representation.priority))
}

/** Keycloak: a required action has no id on the wire. */
function toRepresentation(context: Context, live: LiveObject): Representation {
  const { id: _, ...representation } = toWireRepresentation(context.vault, live)
  return representation
}
