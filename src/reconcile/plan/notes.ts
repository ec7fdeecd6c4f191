// The notes of a plan: what an administrator should know that is no change. Pure.
import { isSecret, readKeys, resolveField } from '../../kinds/compare.ts'
import type { Field, ProviderFacts } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, type Json, readObjects } from '../../kinds/json.ts'
import { describeObject, formatAddress } from '../../kinds/tree.ts'
import { declaresRoles } from '../../kinds/user.ts'
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
    ...noteUnknownProviders(plan.input.declared.values()),
    ...noteUsersWithoutDefaultRole(plan),
    ...noteRetainedCredentials(plan),
    ...noteRetainedObjects(plan),
  ]
}

function noteMaskedSecrets({ input, actions }: NotedPlan): Note[] {
  const masked = [...input.declared.values()].flatMap((declaration) =>
    declaration.masked.filter((path) => !declaration.fields.has(path)).map((path) => ({ declaration, path })),
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
  return masked.map(({ declaration: { kind, key, origin }, path }) => ({
    message: removed.has(`${formatAddress(kind, key)} ${path}`)
      ? `${describeObject(kind, key)}: ${path} is masked and is removed, since it would be sent to another address. Declare it, or set it again.`
      : `${describeObject(kind, key)}: ${path} is masked; the live value is retained`,
    position: origin.position,
  }))
}

/** Notes providers that Regent does not have, such as a custom authenticator: one note for all objects of a kind that use it. */
function noteUnknownProviders(declarations: Iterable<ObjectDeclaration>): Note[] {
  const uses = [...declarations].flatMap((declaration) =>
    listFields(declaration).flatMap(({ path, value, origin }) =>
      findUnknownProviders(resolveField(kinds[declaration.kind], path).field, value).map(({ facts, provider }) => ({
        declaration,
        facts,
        provider,
        position: origin.locate(path, [provider]),
      })),
    ),
  )
  const byProvider = Map.groupBy(uses, ({ declaration, provider }) => `${declaration.kind} ${provider}`)
  return [...byProvider.values()].map((all) => {
    const { declaration, facts, provider, position } = all[0]!
    const { kind, key } = declaration
    const count = new Set(all.map((use) => use.declaration)).size
    const users = count === 1 ? describeObject(kind, key) : `${count} ${kinds[kind].title}s`
    return { message: `${users}: Regent does not have the ${facts.label} ${provider}; ${facts.consequence}`, position }
  })
}

function findUnknownProviders(field: Field, value: Json): { facts: ProviderFacts; provider: string }[] {
  const { members, provider: facts } = field
  if (members && isList(value))
    return readObjects(value).flatMap((element) =>
      Object.entries(members).flatMap(([name, member]) => findUnknownProviders(member, element[name] ?? null)),
    )
  return facts && typeof value === 'string' && value !== '' && !facts.supported.has(value)
    ? [{ facts, provider: value }]
    : []
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
