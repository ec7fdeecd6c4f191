// The description of a resource type of the Keycloak provider: the object that a resource belongs to, and the rules for its attributes.
import { getNameFromPath, getParentPath } from '../../kinds/group.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import { ignored, type Rules } from './attribute-rules.ts'
import type { FieldPath, ObjectNode } from './object-node.ts'
import type { RealmScope, Reference } from './references.ts'

/** A resource type. */
export interface ResourceType {
  /** Returns the object that the attributes belong to. Throws MissingReference if the state does not contain its parent. */
  readonly getNode: (attributes: Representation, realm: RealmScope) => ObjectNode
  /** The kind of the object. Attributes without a rule become its fields of the same name. */
  readonly kind?: KindName
  readonly rules: Rules
}

/** Resource types by name. */
export type ResourceTypes = Readonly<Record<string, ResourceType>>

/** Attributes of every resource that find the object, and are no fields of it. */
export const commonRules: Rules = {
  id: ignored,
  realm: ignored,
  realm_id: ignored,
  internal_id: ignored,
  import: ignored,
  timeouts: ignored,
}

/** Returns the realm itself. */
export const inRealm: ResourceType['getNode'] = (_attributes, { node }) => node

/** Returns a function that gets an object of a list by the attribute with its name. `fields` are those of a new object. */
export function inList(
  list: FieldPath,
  [field, attribute]: readonly [field: string, attribute: string],
  fields: Representation = {},
): ResourceType['getNode'] {
  return ({ [attribute]: name = null }, { node }) => node.getChild(list, String(name), { [field]: name, ...fields })
}

/** Returns the object of the realm that an attribute refers to by id. */
export const getReferred = (kind: KindName, id: Json | undefined, realm: RealmScope): ObjectNode =>
  getObject(realm, realm.references.resolve(kind, id ?? null))

/** Returns the object of the realm that a reference is about. */
export function getObject({ node }: RealmScope, { kind, name, client, attributes }: Reference): ObjectNode {
  if (kind === 'role') {
    const list = client === undefined ? ['roles', 'realm'] : ['roles', 'client', client]
    return node.getChild(list, name, { name })
  }
  if (kind === 'group') return getGroup(node, name)
  if (kind === 'organization')
    return node.getChild('organizations', name, { name: attributes.name ?? name, alias: name })
  const [list, field] = lists[kind] ?? []
  if (list === undefined || field === undefined) throw new Error(`No list of the realm contains objects of ${kind}`)
  return node.getChild(list, name, { [field]: name })
}

const lists: Readonly<Partial<Record<KindName, readonly [list: string, field: string]>>> = {
  client: ['clients', 'clientId'],
  clientScope: ['clientScopes', 'name'],
  user: ['users', 'username'],
  authenticationFlow: ['authenticationFlows', 'alias'],
  identityProvider: ['identityProviders', 'alias'],
  component: ['components/org.keycloak.storage.UserStorageProvider', 'name'],
}

/** Returns the group with a path. */
function getGroup(realm: ObjectNode, path: string): ObjectNode {
  const name = getNameFromPath(path)
  const parent = getParentPath(path)
  return parent === ''
    ? realm.getChild('groups', name, { name })
    : getGroup(realm, parent).getChild('subGroups', name, { name })
}

/** Adds roles to the fields `realmRoles` and `clientRoles` of a user or group. */
export function addRoles(node: ObjectNode, roles: readonly Pick<Reference, 'name' | 'client'>[]): void {
  for (const { name, client } of roles) node.add(client === undefined ? ['realmRoles'] : ['clientRoles', client], name)
}
