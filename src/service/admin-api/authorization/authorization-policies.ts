// What REST does with the policies and permissions of clients that decide permissions.
import { targetsOf } from '../../../kinds/authorization-policy.ts'
import { isPolicyType } from '../../../kinds/authorization-policy-types.ts'
import { missing } from '../../../kinds/compare.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import type { Key } from '../../../kinds/kind.ts'
import { namingAny } from '../../authorization/authorization.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live.ts'
import { withoutNulls } from '../../objects/put.ts'
import { findIn, newObject, parentOf, type Query } from '../common/resource.ts'
import {
  asStated,
  briefPolicy,
  keysIn,
  namedIn,
  policyShower,
  readNames,
  settingsIn,
  statedIn,
} from './authorization-policy-wire.ts'
import { briefScope } from './authorization-scopes.ts'
import { filterPolicies, namesIn } from './policy-filter.ts'
import { demandName, findNamed, getServer, listOf, NOT_FOUND, paged } from './resource-servers.ts'

const KIND = 'authorizationPolicy'

/** How policies show: in the fields of their types, or with their settings. */
export type PolicyForm = 'typed' | 'generic'

/** Keycloak: PolicyService, PermissionService. `form` says how policies show there. */
export function policiesAs(form: PolicyForm) {
  const show = async (context: Context, live: LiveObject) => (await policyShower(context, [live]))[form](live)
  return {
    /** Undefined: a resource or scope is asked for that is not there. */
    async list(context: Context, client: string, query: Query): Promise<Representation[] | undefined> {
      const server = await getServer(context, client, 'view-authorization')
      const all = await listOf(context, server, KIND, String(query.name ?? ''))
      const wanted = await filterPolicies(context, server, all, query)
      if (!wanted) return undefined
      const page = paged(wanted, query)
      const shower = await policyShower(context, page)
      const shown = page.map(shower[form])
      if (query.fields !== '*') return shown
      const named = await namedIn(context, page)
      return shown.map((one, at) => ({ ...one, resources: named[at]!.resources!, scopes: named[at]!.scopes! }))
    },
    async find(context: Context, client: string, name: string): Promise<Representation | undefined> {
      const live = await findNamed(context, await getServer(context, client, 'view-authorization'), KIND, name)
      return live && show(context, live)
    },
    async get(context: Context, client: string, id: string): Promise<Representation> {
      const server = await getServer(context, client, 'view-authorization')
      return show(context, await getIn(context, server, id))
    },
    async delete(context: WriteContext, client: string, id: string): Promise<void> {
      const live = await getIn(context, await getServer(context, client, 'manage-authorization'), id)
      const representation = await show(context, live)
      await writers[KIND].delete(context, [live])
      describeEvent(context, { representation })
    },
  }
}

/** Throws not_found where the client or the type is not there. */
export async function reachType(context: Context, client: string, type: unknown): Promise<LiveObject> {
  const server = await getServer(context, client, 'manage-authorization')
  if (!isPolicyType(type)) throw failure('not_found', NOT_FOUND)
  return server
}

/** Makes a policy. The answer shows what was stated, as ids. Throws not_found where there is no such type. */
export async function createPolicy(
  context: WriteContext,
  client: string,
  stated: Representation,
  form: PolicyForm,
): Promise<Representation> {
  const body = withoutNulls(stated)
  const server = await reachType(context, client, body.type)
  const type = String(body.type)
  demandName(body)
  const named: Record<string, Key[]> = {}
  for (const target of targetsOf(type)) {
    const value = statedIn(target, body)
    if (value !== undefined) Object.assign(named, await readNames(context, server, target, value))
  }
  const config = { ...settingsIn(type, body), ...ownConfig(type, body) }
  const { id, name, description, logic, decisionStrategy } = body
  const given = withoutUndefined({ id, name, description, type, logic, decisionStrategy, config })
  const [live] = await writers[KIND].create(context, [
    { ...newObject({ ...given, ...asStated(named) }), parent: parentOf(server) },
  ])
  const shown = await answerOf(context, live!, body, form)
  describeEvent(context, { representation: shown })
  return shown
}

/** Replaces a policy. Keycloak: what it names goes where it is not stated, but for resources, scopes and policies. */
export async function replacePolicy(
  context: WriteContext,
  client: string,
  id: string,
  stated: Representation,
): Promise<void> {
  const server = await getServer(context, client, 'manage-authorization')
  const live = await getIn(context, server, id)
  const body = withoutNulls(stated)
  const type = String(live.representation.type)
  const relations: Record<string, { add: Key[]; remove: Key[] }> = {}
  for (const target of targetsOf(type)) {
    const value = statedIn(target, body) ?? (target.type === undefined ? undefined : [])
    if (value === undefined) continue
    for (const [field, next] of Object.entries(await readNames(context, server, target, value))) {
      const now = keysIn(live, field)
      relations[field] = { add: missing(next, now), remove: missing(now, next) }
    }
  }
  const now = (live.representation.config ?? {}) as Representation
  const config = { ...settingsIn(type, body, now), ...ownConfig(type, body) }
  const paths = Object.keys({ ...now, ...config }).map((name) => [`config.${name}`, config[name] ?? null] as const)
  const set = {
    name: demandName(body),
    description: body.description ?? null,
    logic: body.logic ?? 'POSITIVE',
    decisionStrategy: body.decisionStrategy ?? 'UNANIMOUS',
    ...Object.fromEntries(paths),
  }
  const [updated] = await writers[KIND].update(context, [{ live, set, relations }])
  describeEvent(context, { representation: await answerOf(context, updated!, body, 'typed') })
}

/** What belongs to a policy. Throws not_found where there is no such policy. */
export const policyParts = {
  async associatedPolicies(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    const names = namesIn(await getIn(context, server, id), 'policies')
    const found = (await listOf(context, server, KIND)).filter(({ key }) => names.includes(key.at(-1)!))
    return found.map((live) => {
      const { description } = live.representation
      return { ...briefPolicy(live), ...(description !== undefined && { description }) }
    })
  },
  async dependentPolicies(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    return (await namingAny(context, 'policies', [await getIn(context, server, id)])).map(briefPolicy)
  },
  async resources(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    const names = namesIn(await getIn(context, server, id), 'resources')
    const all = await listOf(context, server, 'authorizationResource')
    return all.filter(({ key }) => names.includes(key.at(-1)!)).map(({ id, key }) => ({ name: key.at(-1)!, _id: id }))
  },
  async scopes(context: Context, client: string, id: string): Promise<Representation[]> {
    const server = await getServer(context, client, 'view-authorization')
    const names = namesIn(await getIn(context, server, id), 'scopes')
    const all = await listOf(context, server, 'authorizationScope')
    return all.filter(({ key }) => names.includes(key.at(-1)!)).map(briefScope)
  },
}

async function getIn(context: Context, server: LiveObject, id: string): Promise<LiveObject> {
  const live = await findIn(context, server, KIND, id)
  if (!live) throw failure('not_found', NOT_FOUND)
  return live
}

/** The settings of a body that are texts of their own. */
function ownConfig(type: string, { config }: Representation): Representation {
  const named = targetsOf(type).map(({ setting }) => setting)
  const stated = Object.entries((config ?? {}) as Representation)
  return Object.fromEntries(stated.filter(([name, value]) => value !== null && !named.includes(name)))
}

/** A policy as the answer to a creation shows it. Keycloak: users and clients as they were stated. */
async function answerOf(
  context: Context,
  live: LiveObject,
  body: Representation,
  form: PolicyForm,
): Promise<Representation> {
  const shower = await policyShower(context, [live])
  const [typed, [named]] = [shower.typed(live), await namedIn(context, [live])]
  const fields = targetsOf(live.representation.type).flatMap(({ field, type }): [string, Json][] => {
    const stated = body[field]
    if (stated === undefined) return []
    return [
      [field, type === undefined ? named![field]! : field === 'users' || field === 'clients' ? stated : typed[field]!],
    ]
  })
  const generic = form === 'generic' ? { ...shower.generic(live), config: body.config ?? {} } : typed
  const unstated = targetsOf(live.representation.type).map(({ field }) => field)
  return {
    ...Object.fromEntries(Object.entries(generic).filter(([field]) => !unstated.includes(field))),
    ...Object.fromEntries(fields),
  }
}

function withoutUndefined(value: Readonly<Record<string, Json | undefined>>): Representation {
  return Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (one === undefined ? [] : [[name, one]])))
}
