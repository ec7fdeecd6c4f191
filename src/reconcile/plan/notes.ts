// The notes of a plan: what an administrator should know that is no change. Pure.
import { type FlatFields, isGenerated, isSecret, readKeys, resolveField, unflatten } from '../../kinds/compare.ts'
import { isDisabled, listUnenforced, type UnenforcedValue } from '../../kinds/effects/find-unenforced.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import { getPluralTitle } from '../../kinds/kind.ts'
import { describeObject, formatAddress } from '../../kinds/tree.ts'
import { declaresRoles } from '../../kinds/user.ts'
import { memoizeReused } from '../../lib/timing/memoize.ts'
import { type Action, collectNewValues, type Note } from '../model/action.ts'
import { toFlatFields } from '../model/declared-digest.ts'
import type { LiveState, ManagedObject, ObjectDeclaration, PlanInput } from '../model/plan-input.ts'
import { listFields, type RecreatedObject } from './binding.ts'

/** Objects that one note names. */
const NAMED_OBJECTS = 10

/** The parts of a plan from which its notes are derived. */
export interface NotedPlan {
  readonly input: PlanInput
  readonly actions: readonly Action[]
  readonly binding: ReadonlyMap<string, LiveState>
  readonly recreated: ReadonlyMap<string, RecreatedObject>
  /** Objects that are no longer declared and stay. */
  readonly retained: readonly ManagedObject[]
}

/** Returns the notes of a plan, warnings of its documents included. */
export function listNotes(plan: NotedPlan): Note[] {
  return [
    ...plan.input.warnings,
    ...noteMaskedSecrets(plan),
    ...noteEncryptedFields(plan.input),
    ...noteUnenforcedValues(plan.input),
    ...noteUnresolvedSecrets(plan.input),
    ...noteUsersWithoutDefaultRole(plan),
    ...noteRetainedCredentials(plan),
    ...noteRetainedObjects(plan),
  ]
}

function noteMaskedSecrets({ input, actions, binding }: NotedPlan): Note[] {
  const masked = [...input.declared].flatMap(([id, declaration]) =>
    [...declaration.masked]
      .filter(([path]) => !declaration.fields.has(path))
      .map(([path, origin]) => ({ declaration, path, origin, live: binding.get(id) })),
  )
  if (!masked.length) return []
  const removed = new Set(
    actions
      .filter(({ operation }) => operation === 'update')
      .flatMap(({ kind, key, changes }) =>
        Object.entries(collectNewValues(changes)).flatMap(([path, value]) =>
          value === null && isSecret(kinds[kind], path) ? [`${formatAddress(kind, key)} ${path}`] : [],
        ),
      ),
  )
  return masked.map(({ declaration, path, origin, live }) => {
    const { kind, key } = declaration
    const consequence = removed.has(`${formatAddress(kind, key)} ${path}`)
      ? ' and is removed, since it would be sent to another address. Declare it, or set it again.'
      : (live?.fields[path] ?? null) !== null
        ? '; the live value is retained'
        : isGenerated(kinds[kind], path, unflatten(kinds[kind], live?.fields ?? toFlatFields(declaration)))
          ? ', and a new value is generated, since the realm has none'
          : ', and the realm has no value. Declare the secret, such as by a variable.'
    return { message: `${describeObject(kind, key)}: ${path} is masked${consequence}`, position: origin.locate(path) }
  })
}

/** Notes the fields whose values are encrypted in files, though administrators see them: one note for each object. */
function noteEncryptedFields({ declared }: PlanInput): Note[] {
  return [...declared.values()].flatMap(({ kind, key, encrypted, origin }) => {
    if (!encrypted) return []
    const paths = listNames([...encrypted.keys()])
    const verb = encrypted.size === 1 ? 'is' : 'are'
    const message = `${describeObject(kind, key)}: ${paths} ${verb} encrypted in the file, but no secret: administrators of the realm see the value`
    return [{ message, position: origin.position }]
  })
}

/** Notes values that Regent does not enforce: one note for all objects of a kind with the same provider, or the same reason. */
function noteUnenforcedValues({ declared, builtIn }: PlanInput): Note[] {
  const uses = [...declared].flatMap(([address, declaration]) =>
    isEnforced(declaration) ? [] : findUnenforcedValues(declaration, () => builtIn.get(address)),
  )
  const groups = Map.groupBy(uses, ({ declaration: { kind }, value: { provider, effect, reason } }) =>
    JSON.stringify([kind, provider, effect, reason]),
  )
  return [...groups.values()].map((group) => {
    const { declaration, value, position } = group[0]!
    const { kind, key } = declaration
    const count = new Set(group.map((use) => use.declaration)).size
    const subject = count === 1 ? describeObject(kind, key) : `${count} ${getPluralTitle(kinds[kind])}`
    const paths = [...new Set(group.map((use) => use.value.path))]
    // If not even its name has an effect, the whole object has none.
    const description = paths.includes(kinds[kind].naturalKey)
      ? ` ${count === 1 ? 'is' : 'are'} ${value.effect}; ${value.reason}`
      : `: ${describeUnenforced(value, paths)}`
    const furtherPositions = group.slice(1).map((use) => use.position)
    return {
      ...{ message: `${subject}${description}`, position, effect: value.effect },
      ...(furtherPositions.length && { furtherPositions }),
    }
  })
}

/** Whether all values of a declaration are enforced. */
const isEnforced = memoizeReused((declaration: ObjectDeclaration) => !findUnenforcedValues(declaration).length)

function findUnenforcedValues(declaration: ObjectDeclaration, findBuiltIn?: () => FlatFields | undefined) {
  const fields = listFields(declaration)
  const entries = fields.map(({ path, value }): [string, Json] => [path, value])
  const secrets = isDisabled(entries) ? [] : (declaration.unenforcedSecrets ?? [])
  const values = [...listUnenforced(kinds[declaration.kind], entries, findBuiltIn), ...secrets]
  const lacking = new Set(values.flatMap(({ provider, reason }) => (provider ? reason : [])))
  const origins = new Map(values.length ? fields.map(({ path, origin }) => [path, origin]) : [])
  return values
    .filter(({ provider, reason }) => provider || !lacking.has(reason))
    .map((value) => ({
      declaration,
      value,
      position: origins.get(value.field)!.locate(value.field, value.provider && [value.provider.id]),
    }))
}

/** Fields that one note names. */
const NAMED_FIELDS = 3

function describeUnenforced({ provider, effect, reason }: UnenforcedValue, paths: readonly string[]): string {
  const advice = provider?.similar === undefined ? '' : `. Did you mean ${provider.similar}?`
  if (provider) return `Regent does not have the ${provider.label} ${provider.id}; ${reason}${advice}`
  return `${listNames(paths)} ${paths.length === 1 ? 'is' : 'are'} ${effect === 'refused' ? 'not enforced' : effect}; ${reason}`
}

function listNames(paths: readonly string[]): string {
  const rest = paths.length - NAMED_FIELDS
  const names = rest > 0 ? [...paths.slice(0, NAMED_FIELDS), `${rest} other ${rest === 1 ? 'field' : 'fields'}`] : paths
  return new Intl.ListFormat('en', { style: 'long', type: 'conjunction' }).format(names)
}

/** Notes references to the vault whose use fails. */
function noteUnresolvedSecrets({ unresolvedSecrets = [] }: PlanInput): Note[] {
  return unresolvedSecrets.map(({ kind, key, path, reference, advice, position }) => ({
    message: `${describeObject(kind, key)}: ${reference} in ${path} is unresolved, so that its use fails. ${advice}`,
    position,
    effect: 'refused',
  }))
}

/** Notes the users that the plan creates with declared roles that lack the default role: one note for all of them. */
function noteUsersWithoutDefaultRole({ input: { declared, defaultRole }, actions }: NotedPlan): Note[] {
  if (defaultRole === undefined) return []
  const users = actions.flatMap(({ operation, kind, key }) => {
    const user = operation === 'create' && kind === 'user' ? declared.get(formatAddress(kind, key)) : undefined
    return user && lacksRole(user, defaultRole) ? [user] : []
  })
  const [first] = users
  if (!first) return []
  const subject =
    users.length === 1
      ? `user ${first.key[0]} declares roles without ${defaultRole} and is`
      : `${users.length} users declare roles without ${defaultRole} and are`
  const message = `${subject} created without this default role. Add it to realmRoles to grant it.`
  return [{ message, position: first.origin.locate(first.fields.has('realmRoles') ? 'realmRoles' : 'clientRoles') }]
}

function lacksRole(user: ObjectDeclaration, role: string): boolean {
  const values = toFlatFields(user)
  return declaresRoles(values) && !readKeys(values.realmRoles).some(([name]) => name === role)
}

/** Notes declared credentials of users who existed before: they keep their own. */
function noteRetainedCredentials({ input, binding, recreated }: NotedPlan): Note[] {
  const managed = new Set(input.managed.map(({ kind, key }) => formatAddress(kind, key)))
  return [...input.declared].flatMap(([id, declaration]) => {
    const live = binding.get(id)
    const wasApplied = managed.has(id) && !recreated.has(id)
    if (!live || wasApplied || input.credentialRecipients?.has(live.id!)) return []
    const { kind, key } = declaration
    return listFields(declaration)
      .filter(({ path }) => resolveField(kinds[kind], path).field.appliedOnChange && isSecret(kinds[kind], path))
      .map(({ path, origin }) => ({
        message: `${describeObject(kind, key)}: ${path} are retained, since the ${kinds[kind].title} existed before`,
        position: origin.locate(path),
      }))
  })
}

function noteRetainedObjects({ retained }: NotedPlan): Note[] {
  if (!retained.length) return []
  const names = retained.slice(0, NAMED_OBJECTS).map(({ kind, key }) => describeObject(kind, key))
  const rest = retained.length > NAMED_OBJECTS ? ` and ${retained.length - NAMED_OBJECTS} others` : ''
  return [{ message: `no longer declared, and not pruned: ${names.join(', ')}${rest}` }]
}
