// Policies on the wire: what they name as ids, in fields of their type or in settings that are JSON texts.
import { type PolicyTarget, policyElements, targetsOf } from '../../../kinds/authorization-policy.ts'
import { settingsOfType } from '../../../kinds/authorization-policy-types.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import type { Key, KindName } from '../../../kinds/kind.ts'
import { relationKeys, relationValue, targetKey } from '../../../kinds/relations.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { idsOf } from '../../objects/references.ts'

const { fields } = kinds.authorizationPolicy

/** Shows one policy. */
export type ShowPolicy = (live: LiveObject) => Representation

/** A policy where others show what they have to do with it. Keycloak: without what it says. */
export function briefPolicy({ id, key, representation: { type } }: LiveObject): Representation {
  return { id, name: key.at(-1)!, type: type!, logic: 'POSITIVE', decisionStrategy: 'UNANIMOUS', config: {} }
}

/** What shows policies: in the fields of their types, or with their settings. Statements: one per kind that they name. */
export async function policyShower(
  context: Context,
  policies: readonly LiveObject[],
): Promise<{ readonly typed: ShowPolicy; readonly generic: ShowPolicy }> {
  const ids = new Map<KindName, ReadonlyMap<string, string>>()
  const wanted = policies.flatMap((live) =>
    targetsOf(live.representation.type).flatMap((target) =>
      keysOf(live, target).map(({ key }) => ({ kind: fields[target.field]!.refersTo!, key })),
    ),
  )
  for (const [kind, own] of Map.groupBy(wanted, ({ kind }) => kind))
    ids.set(kind, await idsOf(context, kind, [...new Set(own.map(({ key }) => key))]))
  const elements = (live: LiveObject, target: PolicyTarget): Json[] => {
    const idOf = (key: Key) => ids.get(fields[target.field]!.refersTo!)!.get(JSON.stringify(key))!
    const { flagged } = target
    const found = keysOf(live, target)
    if (!flagged) return found.map(({ key }) => idOf(key))
    return found.map(({ key, on }) => ({ id: idOf(key), [flagged.flag]: on }))
  }
  const own = ({ representation: { type } }: LiveObject) =>
    targetsOf(type).filter((target) => target.type !== undefined)
  const base = (live: LiveObject) => {
    const { id, name, description, type, logic, decisionStrategy, config } = present(context.vault, live)
    const shown = { id, name, ...(description !== undefined && { description }), type, logic, decisionStrategy }
    return { shown: shown as Representation, config: (config ?? {}) as Representation }
  }
  return {
    typed: (live) => {
      const { shown, config } = base(live)
      return {
        ...shown,
        ...Object.fromEntries(own(live).map((target) => [target.field, elements(live, target)])),
        ...typedSettings(live, config),
      }
    },
    generic: (live) => {
      const { shown, config } = base(live)
      const named = own(live).map((target) => [target.setting, JSON.stringify(elements(live, target))])
      return { ...shown, config: { ...config, ...Object.fromEntries(named) } }
    },
  }
}

/** The ids of the resources, scopes and policies that each policy names. Statements: one per kind. */
export async function namedIn(context: Context, policies: readonly LiveObject[]): Promise<Representation[]> {
  const shown = policies.map((): Representation => ({}))
  for (const target of targetsOf(undefined)) {
    const keys = policies.map((live) => keysOf(live, target).map(({ key }) => key))
    const ids = await idsOf(context, fields[target.field]!.refersTo!, keys.flat())
    for (const [at, own] of keys.entries()) shown[at]![target.field] = own.map((key) => ids.get(JSON.stringify(key))!)
  }
  return shown
}

function typedSettings(live: LiveObject, config: Representation): Representation {
  const shown = settingsOfType(live.representation.type).flatMap((one): [string, Json][] => {
    const value = config[one.setting] ?? one.default
    return value === undefined ? [] : [[one.field, one.flag ? String(value) === 'true' : value]]
  })
  return Object.fromEntries(shown)
}

/** The settings that the fields of a body state, of a policy of that type. */
export function settingsIn(type: string, body: Representation, live: Representation = {}): Representation {
  const stated = settingsOfType(type).flatMap((one): [string, Json][] => {
    const value = body[one.field] ?? (one.stays ? live[one.setting] : undefined) ?? one.default
    return value === undefined ? [] : [[one.setting, String(value)]]
  })
  return Object.fromEntries(stated)
}

/** What a body says that a policy names: in a field, or in a setting. Undefined where it says nothing. */
export function statedIn({ field, setting }: PolicyTarget, body: Representation): Json | undefined {
  return body[field] ?? (body.config as Representation | null | undefined)?.[setting] ?? undefined
}

/**
 * What a policy names, as its relations have it: keys by field. Throws invalid where it names what is not there. Keycloak: roles that
 * the realm or an existing client does not have are left out. One statement, two where roles of clients are left out.
 */
export async function readNames(
  context: Context,
  server: LiveObject,
  target: PolicyTarget,
  value: Json,
): Promise<Record<string, Key[]>> {
  const elements = policyElements(target, value)
  if (!elements) throw failure('invalid', `${target.field} must be a list`)
  const { refersTo: kind, siblings } = fields[target.field]!
  const keysFor = (name: string) => candidates(kind!, name).map((key) => absolute(server, target.field, key))
  const names = elements.map(({ name }) => name)
  const found = names.length ? await writers[kind!].list(context, { ids: names, keys: names.flatMap(keysFor) }) : []
  const named = (name: string) => {
    const texts = keysFor(name).map((key) => JSON.stringify(key))
    return found.find(({ id }) => id === name) ?? found.find(({ key }) => texts.includes(JSON.stringify(key)))
  }
  const owners = kind === 'role' ? names.filter((name) => !named(name)).flatMap(clientsIn) : []
  const clients = owners.length ? await writers.client.list(context, { keys: owners.map((owner) => [owner]) }) : []
  const isLeftOut = (name: string) => {
    const ownersHere = clientsIn(name)
    return kind === 'role' && (!ownersHere.length || clients.some(({ key: [client] }) => ownersHere.includes(client!)))
  }
  const keysNamed = (name: string): Key[] => {
    const live = named(name)
    const own = !siblings || live?.parent?.id === server.id
    if (!live && isLeftOut(name)) return []
    if (!live || !own) throw failure('invalid', `There is no ${kinds[kind!].title} ${name}`)
    return [siblings ? live.key.slice(-1) : live.key]
  }
  const of = (flagged: boolean) =>
    elements.filter((one) => one.flagged === flagged).flatMap(({ name }) => keysNamed(name))
  return { [target.field]: of(false), ...(target.flagged && { [target.flagged.field]: of(true) }) }
}

/** Keys as a new object states them. */
export function asStated(keys: Readonly<Record<string, readonly Key[]>>): Representation {
  return Object.fromEntries(Object.entries(keys).map(([field, own]) => [field, relationValue(fields[field]!, own)]))
}

/** The keys that a live policy has in the field. */
export function keysIn({ representation }: LiveObject, field: string): Key[] {
  const value = representation[field]
  return value === undefined ? [] : relationKeys(fields[field]!, value)
}

/** Everything that a policy names of a sort: what belongs to the realm first, then what is not flagged. */
function keysOf(live: LiveObject, target: PolicyTarget): { key: Key; on: boolean }[] {
  const { field, flagged } = target
  const own = (name: string, on: boolean) =>
    keysIn(live, name).map((key) => ({ key: targetKey(fields[name]!, live.key, key), on }))
  const all = [...own(field, false), ...(flagged ? own(flagged.field, true) : [])]
  return all.sort((a, b) => a.key.length - b.key.length)
}

function absolute(server: LiveObject, field: string, key: Key): Key {
  return targetKey(fields[field]!, ['client', ...server.key, ''], key)
}

/** The keys that a name may mean. */
function candidates(kind: KindName, name: string): Key[] {
  if (kind === 'user') return [[name.toLowerCase()]]
  if (kind === 'group') return [[name.startsWith('/') ? name : `/${name}`]]
  if (kind !== 'role') return [[name]]
  return [[name], ...clientsIn(name).map((client): Key => ['client', client, name.slice(client.length + 1)])]
}

/** The clients that the name of a role may begin with: both names may have slashes. */
function clientsIn(name: string): string[] {
  return [...name.matchAll(/\//g)].map(({ index }) => name.slice(0, index))
}
