// Guards: changes that cannot be undone and may be a mistake, so that the plan needs an approval. Pure.
import { hash } from 'node:crypto'
import { MASTER } from '../../kinds/built-in/index.ts'
import { isSecret, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import { describeObject, findParent, formatAddress } from '../../kinds/tree.ts'
import { SERVICE_ACCOUNT_PREFIX } from '../../kinds/user.ts'
import { quoteWord } from '../../lib/quote-word.ts'
import type { Actor, DeletedRealm, RealmSize, StoredEntry } from '../../service/context/store-types.ts'
import type { Guard, RealmPlan } from '../model/action.ts'
import { renderAttribution, toAttribution } from '../model/attribution.ts'
import type { LiveState, ManagedObject, ObjectDeclaration, PlanInput } from '../model/plan-input.ts'
import { bindLiveObjects, findRecreated, listFields, type RecreatedObject } from './binding.ts'
import { type FlowFacts, guardImpassableFlows } from './impassable-flows.ts'

/** Facts from the store that guards need besides the plan. */
export interface GuardFacts extends FlowFacts {
  /** The content of a realm to delete. */
  readonly size?: (RealmSize & { readonly revision: number }) | undefined
  /** The deleted realm whose name a new realm has. */
  readonly former?: DeletedRealm | undefined
  /** The number of objects that the sources manage, if the plan deletes some. */
  readonly managedCount?: number | undefined
  /** The creators of adopted users, by user id. */
  readonly creators?: ReadonlyMap<string, Actor> | undefined
  /** The objects that new sources share with sources that are not read in this run. */
  readonly shared?: readonly SharedObjects[] | undefined
  /** The sources whose files were in another place at their last apply. */
  readonly movedSources?: readonly MovedSource[] | undefined
  /** Recreated objects that none of the sources created. */
  readonly recreated?: readonly RecreationEvidence[] | undefined
  /** Adopted objects that gain admin permissions, and that neither a source nor Regent created. */
  readonly adminGrants?: readonly AdminGrant[] | undefined
}

/** A recreated object, and the journal entry that gave it its name, if the journal still holds that. */
export interface RecreationEvidence extends RecreatedObject {
  readonly entry: StoredEntry | undefined
}

/** A plan to check, with the settings of its sources. */
export interface GuardedPlan {
  readonly plan: RealmPlan
  readonly input: PlanInput
  readonly settings: readonly SourceSettings[]
  readonly facts: GuardFacts
}

/** Objects of which a source that was never applied to the realm declares what another source manages. */
export interface SharedObjects {
  readonly newSource: string
  readonly source: string
  readonly count: number
}

/** A source whose files were in another place at its last apply. */
export interface MovedSource {
  readonly source: string
  readonly from: string
  readonly to: string
}

/** An existing user, group, role or client that is declared and that no source has managed before. */
export interface AdoptedObject {
  readonly declaration: ObjectDeclaration
  readonly live: LiveState
}

/** An adopted object, and the admin permissions that it gains. */
export interface AdminGrant extends AdoptedObject {
  /** Admin roles as text: `realm-admin of acme`. */
  readonly roles: readonly string[]
  /** The journal entry that gave the object its name, if the journal still holds that. */
  readonly entry: StoredEntry | undefined
}

/** The deletions that need no approval, by default: their number, and their share of all managed objects. */
const MAX_DELETIONS = 20
const MAX_SHARE = 0.5
/** Up to this number, deletions need no approval whatever their share. */
const FEW_DELETIONS = 3
/** Objects that a guard names. */
const NAMED_OBJECTS = 5
/** The kinds that can have admin permissions, and who gets those besides the object; a client has them by its service account. */
const ADOPTED_KINDS: Partial<Record<KindName, string>> = {
  user: '',
  client: ' by its service account',
  group: ' for its existing members',
  role: ' for its existing holders',
}

/** Returns the guards that block a plan. The strictest settings of all sources count. */
export function evaluateGuards(guarded: GuardedPlan): Guard[] {
  return [
    ...(isRealmDeletion(guarded.plan) ? guardRealmDeletion(guarded) : guardDeletions(guarded)),
    ...guardRealmRecreation(guarded),
    ...guardAdoption(guarded),
    ...guardRecreatedObjects(guarded),
    ...guardSharedObjects(guarded),
    ...guardMovedSources(guarded),
    ...guardImpassableFlows(guarded),
  ]
}

/** Whether a plan deletes the realm itself. */
export function isRealmDeletion({ actions }: Pick<RealmPlan, 'actions'>): boolean {
  return actions.some(({ kind, operation }) => kind === 'realm' && operation === 'delete')
}

/**
 * Returns the number of objects that a plan deletes from a realm which stays, without deliberate deletions; 0 if there are too few
 * for a guard.
 */
export function countNotableDeletions(plan: RealmPlan, input: Pick<PlanInput, 'managed'>): number {
  const count = countUnintendedDeletions(plan, input)
  return count > FEW_DELETIONS && !isRealmDeletion(plan) ? count : 0
}

function countUnintendedDeletions(plan: RealmPlan, { managed }: Pick<PlanInput, 'managed'>): number {
  const intended = new Set(managed.flatMap((row) => (row.isDeletedFromSource ? toId(row) : [])))
  return listDeletedIds(plan).filter((id) => !intended.has(id)).length
}

const toId = ({ kind, object }: Pick<ManagedObject, 'kind' | 'object'>) => `${kind} ${object}`

function listDeletedIds({ actions }: RealmPlan): string[] {
  return actions.flatMap(({ operation, kind, id }) => (operation === 'delete' ? toId({ kind, object: id! }) : []))
}

/** Returns the existing users, groups, roles and clients that are declared and that no source has managed before. */
export function findAdoptedObjects(input: PlanInput): AdoptedObject[] {
  const managed = new Set([...input.managed, ...input.otherSources].map(toId))
  const binding = bindLiveObjects(input)
  const recreated = findRecreated(input, binding)
  return [...input.declared].flatMap(([id, declaration]) => {
    const { kind, isReference } = declaration
    if (!(kind in ADOPTED_KINDS) || isReference || recreated.has(id) || input.isUnchanged(id)) return []
    const live = binding.get(id)
    if (live?.id === undefined || managed.has(toId({ kind, object: live.id }))) return []
    return [{ declaration, live }]
  })
}

/** Returns the users among adopted objects, without service accounts, which nobody registers. */
export function filterAdoptedUsers(adopted: readonly AdoptedObject[]): AdoptedObject[] {
  return adopted.filter(({ live }) => live.kind === 'user' && live.fields.serviceAccountClientId == null)
}

/** Returns the users who registered themselves: neither a source, an administrator nor Regent created them. */
function filterSelfRegistered(adopted: readonly AdoptedObject[], { creators }: GuardFacts): AdoptedObject[] {
  return filterAdoptedUsers(adopted).filter(({ live }) => (creators?.get(live.id!)?.kind ?? 'user') === 'user')
}

function guardRealmDeletion({ plan: { realm }, input: { managed }, facts: { size } }: GuardedPlan): Guard[] {
  const { users = 0, clients = 0, sessions = 0 } = size ?? {}
  const realmRow = managed.find(({ kind, isDeletedFromSource }) => kind === 'realm' && isDeletedFromSource)
  // Other users may have registered themselves, and no source restores them.
  if (realmRow && users <= countDeclaredUsers(managed, realmRow)) return []
  const message = `deletes the realm ${realm} with ${formatNumber(users, 'user')}, ${formatNumber(clients, 'client')} and ${formatNumber(sessions, 'session')}`
  return [{ guard: 'deletesRealm', message, objects: [realm], ...(size && { revision: size.revision }) }]
}

/** Returns the number of users that resources of their own declare, besides that of the realm. */
function countDeclaredUsers(managed: readonly ManagedObject[], realmRow: ManagedObject): number {
  const isDeclared = ({ kind, key, file }: ManagedObject) =>
    kind === 'user' && file !== realmRow.file && !key[0]!.startsWith(SERVICE_ACCOUNT_PREFIX)
  return managed.filter(isDeclared).length
}

function guardRealmRecreation({ plan: { creates, realm }, facts: { former } }: GuardedPlan): Guard[] {
  if (!creates || realm === MASTER || !former || former.users === 0) return []
  const { users, deletedAt } = former
  const content = users === null ? ' (number of users unknown)' : `, which had ${formatNumber(users, 'user')}`
  const message = `recreates the realm ${realm}${content} and was deleted at ${deletedAt.toISOString()}; its users are not restored`
  return [{ guard: 'recreatesRealm', message, objects: [realm] }]
}

function guardDeletions({ plan, input, settings, facts: { managedCount = 0 } }: GuardedPlan): Guard[] {
  const disappeared = new Set(input.managed.flatMap((row) => (row.isMissingFromSource ? toId(row) : [])))
  const unexplained = listDeletedIds(plan).filter((id) => disappeared.has(id)).length
  if (unexplained) {
    const message = `deletes ${formatNumber(unexplained, 'object')} whose declaration disappeared without being deleted`
    return [{ guard: 'deletions', message, objects: [] }]
  }
  const count = countUnintendedDeletions(plan, input)
  const limit = Math.min(...settings.map(({ guards }) => guards?.deletions ?? MAX_DELETIONS))
  const share = Math.min(...settings.map(({ guards }) => guards?.share ?? MAX_SHARE))
  const reason =
    count > limit
      ? `more than ${limit}`
      : countNotableDeletions(plan, input) > managedCount * share
        ? `more than ${Math.round(share * 100)} % of the ${managedCount} that its sources manage`
        : undefined
  const message = `deletes ${formatNumber(count, 'object')}, ${reason}`
  return reason ? [{ guard: 'deletions', message, objects: [] }] : []
}

/** Blocks a plan that adopts users who registered themselves, or that grants admin permissions to adopted objects. */
function guardAdoption({ plan, input, facts }: GuardedPlan): Guard[] {
  if (plan.creates) return []
  const { adminGrants = [] } = facts
  const selfRegistered = filterSelfRegistered(findAdoptedObjects(input), facts)
  const objects = new Map([...selfRegistered, ...adminGrants].map((object) => [object.live.id!, object]))
  if (!objects.size) return []
  const users = [...objects.values()].filter(({ live }) => live.kind === 'user')
  const credentials = digestCredentials(users)
  const passwordEffect = credentials
    ? 'declared passwords are set only if you approve with --with-credentials'
    : 'their passwords stay'
  const clauses = [
    ...(selfRegistered.length ? [describeSelfRegistered(selfRegistered)] : []),
    ...(adminGrants.length ? [describeAdminGrants(adminGrants)] : []),
    ...(filterAdoptedUsers(users).length ? [passwordEffect] : []),
  ]
  return [
    {
      guard: 'adoption',
      message: clauses.join('; '),
      objects: [...objects.keys()].sort(),
      ...(credentials && { credentials }),
    },
  ]
}

function describeSelfRegistered(users: readonly AdoptedObject[]): string {
  const names = users.slice(0, NAMED_OBJECTS).map(({ live }) => describeObject(live.kind, live.key))
  return `adopts ${joinNames(names, users.length, ', ')}, created neither by a source nor by an administrator, such as by self-registration`
}

function describeAdminGrants(grants: readonly AdminGrant[]): string {
  const descriptions = grants.slice(0, NAMED_OBJECTS).map(({ live, roles, entry }) => {
    const origin = entry?.operation === 'update' ? 'renamed' : 'created'
    const author = entry ? `${origin} by ${renderAttribution(toAttribution(entry))}` : 'created by an unknown author'
    return `${describeObject(live.kind, live.key)}, ${author}, gains ${roles.join(', ')}${ADOPTED_KINDS[live.kind]}`
  })
  return `grants admin permissions to existing objects that no source created: ${joinNames(descriptions, grants.length, '; ')}`
}

/** Blocks a plan of a source that may be another one under a new name. */
function guardSharedObjects({ facts: { shared = [] } }: GuardedPlan): Guard[] {
  return shared.map(({ newSource, source, count }) => ({
    guard: 'shared',
    message: `shares ${formatNumber(count, 'object')} with source ${source}. If ${newSource} is this source under a new name, run "regent source rename ${quoteWord(source)} ${quoteWord(newSource)}" instead of approving this`,
    objects: [newSource, source],
  }))
}

/** Blocks a plan that removes what a source of the same name, which may be another one, declared in another place. */
function guardMovedSources({ plan: { actions }, facts: { movedSources = [] } }: GuardedPlan): Guard[] {
  const removes = actions.some(
    ({ operation, changes }) => operation === 'delete' || changes.some(({ reason }) => reason === 'undeclared'),
  )
  if (!removes) return []
  return movedSources.map(({ source, from, to }) => ({
    guard: 'moved',
    message: `removes what the source ${source} declared in ${from}, since ${to} does not declare it. If ${to} is another source, give it a name of its own instead of approving this`,
    objects: [source],
  }))
}

/** Blocks a plan that would grant an object's declared permissions to another object of the same name. */
function guardRecreatedObjects({ input, facts: { recreated = [] } }: GuardedPlan): Guard[] {
  if (!recreated.length) return []
  const addresses = new Set(recreated.map(({ live }) => formatAddress(live.kind, live.key)))
  // Children of recreated objects are not mentioned.
  const roots = recreated.filter(({ live }) => {
    const parent = findParent(live.key)
    return !parent || !addresses.has(formatAddress(parent.kind, parent.key))
  })
  const descriptions = roots.slice(0, NAMED_OBJECTS).map((object) => describeRecreation(object, input))
  const credentials = digestCredentials(recreated.filter(({ declaration }) => declaration.kind === 'user'))
  return [
    {
      guard: 'recreated',
      message: `grants declared permissions to other objects of the same name: ${joinNames(descriptions, roots.length, '; ')}`,
      objects: recreated.map(({ live }) => live.id!).sort(),
      ...(credentials && { credentials }),
    },
  ]
}

function describeRecreation({ live, applied, entry }: RecreationEvidence, input: PlanInput): string {
  const name = describeObject(live.kind, live.key)
  const deletion = input.changedBy(applied.kind, applied.object)
  const deletedBy = deletion ? ` by ${renderAttribution(deletion)}` : ''
  const origin = entry?.operation === 'update' ? 'another object was renamed to it' : 'it was created again'
  const createdBy = entry ? ` by ${renderAttribution(toAttribution(entry))}` : ''
  return `the applied ${name} was deleted${deletedBy}, and ${origin}${createdBy}`
}

/** Returns a digest of declared credentials, since an approval covers them and the plan does not contain them. */
function digestCredentials(users: readonly Pick<AdoptedObject, 'declaration'>[]): string | undefined {
  const credentials = users.flatMap(({ declaration }) => {
    const kind = kinds[declaration.kind]
    return listFields(declaration).flatMap(({ path, value }) =>
      resolveField(kind, path).field.appliedOnChange && isSecret(kind, path)
        ? [JSON.stringify([declaration.key, path, value])]
        : [],
    )
  })
  return credentials.length ? hash('sha256', JSON.stringify(credentials.sort()), 'base64url') : undefined
}

/** Joins names and the number of further ones: `a, b, 3 more`. */
function joinNames(names: readonly string[], total: number, separator: string): string {
  const rest = total - names.length
  return [...names, ...(rest ? [`${rest} more`] : [])].join(separator)
}

/** Returns a number with its noun: `1 user`, `2 users`. */
function formatNumber(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
