// Converts policies to and from their wire representation: their targets are ids, in the fields of their type (`typed`) or in
// settings that are JSON texts (`generic`).
import { listPolicyTargets, type PolicyTarget, parsePolicyElements } from '../../../kinds/authorization-policy.ts'
import { listPolicySettings } from '../../../kinds/authorization-policy-types.ts'
import { kinds } from '../../../kinds/index.ts'
import { type Json, omitUndefined, type Representation, readObject } from '../../../kinds/json.ts'
import type { Key, KindName } from '../../../kinds/kind.ts'
import { toRelationKeys, toRelationValue, toTargetKey } from '../../../kinds/relations.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getIdsByKey } from '../../objects/references.ts'

const { fields } = kinds.authorizationPolicy

/** Returns the wire representation of a policy. */
export type RenderPolicy = (live: LiveObject) => Representation

/** Returns a policy as an element of a list of related policies. Keycloak: with default logic, strategy and settings. */
export function toBriefPolicy({ id, key, representation: { type } }: LiveObject): Representation {
  return { id, name: key.at(-1)!, type: type!, logic: 'POSITIVE', decisionStrategy: 'UNANIMOUS', config: {} }
}

/** Creates the functions that render policies in both forms. One statement per kind of target. */
export async function createPolicyRenderers(
  context: Context,
  policies: readonly LiveObject[],
): Promise<{ readonly typed: RenderPolicy; readonly generic: RenderPolicy }> {
  const idsByKind = await readTargetIds(context, policies)
  const renderTargets = (live: LiveObject, target: PolicyTarget): Json[] => {
    const getId = (key: Key) => idsByKind.get(getTargetKind(target))!.get(JSON.stringify(key))!
    const { flagged } = target
    return listTargets(live, target).map(({ key, isFlagged }) =>
      flagged ? { id: getId(key), [flagged.flag]: isFlagged } : getId(key),
    )
  }
  const listTargetsOfType = ({ representation: { type } }: LiveObject) =>
    listPolicyTargets(type).filter((target) => target.type !== undefined)
  const split = (live: LiveObject) => {
    const { id, name, description, type, logic, decisionStrategy, config } = toWireRepresentation(context.vault, live)
    return {
      fields: omitUndefined({ id, name, description, type, logic, decisionStrategy }),
      config: readObject(config),
    }
  }
  return {
    typed: (live) => {
      const { fields, config } = split(live)
      const targets = listTargetsOfType(live).map((target) => [target.field, renderTargets(live, target)])
      return { ...fields, ...Object.fromEntries(targets), ...toTypedSettings(live, config) }
    },
    generic: (live) => {
      const { fields, config } = split(live)
      const targets = listTargetsOfType(live).map((target) => [
        target.configKey,
        JSON.stringify(renderTargets(live, target)),
      ])
      return { ...fields, config: { ...config, ...Object.fromEntries(targets) } }
    },
  }
}

/** Reads the ids of all targets of policies, by kind and by key as JSON. One statement per kind. */
async function readTargetIds(
  context: Context,
  policies: readonly LiveObject[],
): Promise<ReadonlyMap<KindName, ReadonlyMap<string, string>>> {
  const targets = policies.flatMap((live) =>
    listPolicyTargets(live.representation.type).flatMap((target) =>
      listTargets(live, target).map(({ key }) => ({ kind: getTargetKind(target), key })),
    ),
  )
  const ids = new Map<KindName, ReadonlyMap<string, string>>()
  for (const [kind, ofKind] of Map.groupBy(targets, ({ kind }) => kind))
    ids.set(kind, await getIdsByKey(context, kind, [...new Set(ofKind.map(({ key }) => key))]))
  return ids
}

const getTargetKind = ({ field }: PolicyTarget): KindName => fields[field]!.refersTo!

/** Returns the ids of the resources, scopes and policies of each policy, by field. One statement per field. */
export async function listTargetIds(context: Context, policies: readonly LiveObject[]): Promise<Representation[]> {
  const idsByField = policies.map((): Representation => ({}))
  for (const target of listPolicyTargets(undefined)) {
    const keys = policies.map((live) => listTargets(live, target).map(({ key }) => key))
    const ids = await getIdsByKey(context, getTargetKind(target), keys.flat())
    for (const [at, ofPolicy] of keys.entries())
      idsByField[at]![target.field] = ofPolicy.map((key) => ids.get(JSON.stringify(key))!)
  }
  return idsByField
}

function toTypedSettings(live: LiveObject, config: Representation): Representation {
  const fields = listPolicySettings(live.representation.type).flatMap((setting): [string, Json][] => {
    const value = config[setting.configKey] ?? setting.default
    return value === undefined ? [] : [[setting.field, setting.isFlag ? String(value) === 'true' : value]]
  })
  return Object.fromEntries(fields)
}

/** Returns the settings that the fields of a body declare for a policy of that type. */
export function toStoredSettings(type: string, body: Representation, live: Representation = {}): Representation {
  const settings = listPolicySettings(type).flatMap((setting): [string, Json][] => {
    const retained = setting.keptOnUpdate ? live[setting.configKey] : undefined
    const value = body[setting.field] ?? retained ?? setting.default
    return value === undefined ? [] : [[setting.configKey, String(value)]]
  })
  return Object.fromEntries(settings)
}

/** Returns the targets that a body declares, in the field or in the setting; undefined if it declares none. */
export function findDeclaredTargets(
  { field, configKey: setting }: PolicyTarget,
  body: Representation,
): Json | undefined {
  return body[field] ?? readObject(body.config)[setting] ?? undefined
}

/** Targets that a body declares for a policy of a resource server. */
export interface DeclaredTargets {
  readonly server: LiveObject
  readonly target: PolicyTarget
  readonly value: Json
}

/**
 * Returns the keys of declared targets, by field. Throws invalid if one does not exist. Keycloak: missing roles of the realm or of an
 * existing client are ignored. One statement, two if roles of clients are missing.
 */
export async function resolveTargets(
  context: Context,
  { server, target, value }: DeclaredTargets,
): Promise<Record<string, Key[]>> {
  const elements = parsePolicyElements(target, value)
  if (!elements) throw failure('invalid', `${target.field} must be a list`)
  const kind = getTargetKind(target)
  const isSibling = fields[target.field]!.targetsSiblings
  const listKeys = (name: string) =>
    listCandidateKeys(kind, name).map((key) => toAbsoluteKey(server, target.field, key))
  const names = elements.map(({ name }) => name)
  const candidates = names.length
    ? await writers[kind].list(context, { ids: names, keys: names.flatMap(listKeys) })
    : []
  const findTarget = (name: string) => {
    const keys = listKeys(name).map((key) => JSON.stringify(key))
    return candidates.find(({ id }) => id === name) ?? candidates.find(({ key }) => keys.includes(JSON.stringify(key)))
  }
  const missingRoles = kind === 'role' ? names.filter((name) => !findTarget(name)) : []
  const ignored = await selectIgnoredRoles(context, missingRoles)
  const resolve = (name: string): Key[] => {
    const live = findTarget(name)
    if (!live && ignored.has(name)) return []
    if (!live || (isSibling && live.parent?.id !== server.id))
      throw failure('invalid', `There is no ${kinds[kind].title} ${name}`)
    return [isSibling ? live.key.slice(-1) : live.key]
  }
  const resolveAll = (flagged: boolean) =>
    elements.filter((element) => element.flagged === flagged).flatMap(({ name }) => resolve(name))
  return { [target.field]: resolveAll(false), ...(target.flagged && { [target.flagged.field]: resolveAll(true) }) }
}

/** Returns the missing roles that are not an error: those of the realm, and those of existing clients. One statement, or none. */
async function selectIgnoredRoles(context: Context, missing: readonly string[]): Promise<ReadonlySet<string>> {
  const prefixes = missing.flatMap(listClientPrefixes)
  const clients = prefixes.length
    ? await writers.client.list(context, { keys: prefixes.map((prefix) => [prefix]) })
    : []
  const clientIds = new Set(clients.map(({ key: [clientId] }) => clientId))
  const isIgnored = (name: string) => {
    const clientPrefixes = listClientPrefixes(name)
    return !clientPrefixes.length || clientPrefixes.some((prefix) => clientIds.has(prefix))
  }
  return new Set(missing.filter(isIgnored))
}

/** Returns the keys of each field as the values of a new policy's relations. */
export function toRelationValues(keysByField: Readonly<Record<string, readonly Key[]>>): Representation {
  return Object.fromEntries(
    Object.entries(keysByField).map(([field, keys]) => [field, toRelationValue(fields[field]!, keys)]),
  )
}

/** Returns the keys in a field of a live policy. */
export function getRelationKeys({ representation }: LiveObject, field: string): Key[] {
  const value = representation[field]
  return value === undefined ? [] : toRelationKeys(fields[field]!, value)
}

/** Returns the targets of a policy in a field: objects of the realm first, and then targets without the flag first. */
function listTargets(live: LiveObject, { field, flagged }: PolicyTarget): { key: Key; isFlagged: boolean }[] {
  const listField = (name: string, isFlagged: boolean) =>
    getRelationKeys(live, name).map((key) => ({ key: toTargetKey(fields[name]!, live.key, key), isFlagged }))
  const all = [...listField(field, false), ...(flagged ? listField(flagged.field, true) : [])]
  return all.sort((a, b) => a.key.length - b.key.length)
}

function toAbsoluteKey(server: LiveObject, field: string, key: Key): Key {
  return toTargetKey(fields[field]!, ['client', ...server.key, ''], key)
}

/** Returns the keys that a name may stand for. */
function listCandidateKeys(kind: KindName, name: string): Key[] {
  if (kind === 'user') return [[name.toLowerCase()]]
  if (kind === 'group') return [[name.startsWith('/') ? name : `/${name}`]]
  if (kind !== 'role') return [[name]]
  return [[name], ...listClientPrefixes(name).map((client): Key => ['client', client, name.slice(client.length + 1)])]
}

/** Returns the client ids that the name of a role may begin with, such as `a` and `a/b` of `a/b/c`: both names may have slashes. */
function listClientPrefixes(name: string): string[] {
  return [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index))
}
