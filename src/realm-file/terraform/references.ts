// The objects of a state by id, since resources refer to each other by the ids of Keycloak.
import { toPathSegment } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { KindName } from '../../kinds/kind.ts'
import type { ObjectNode } from './object-node.ts'
import type { StateResource } from './read-state.ts'

const EXECUTION = 'keycloak_authentication_execution'

/** The realm that a resource belongs to. */
export interface RealmScope {
  readonly name: string
  readonly node: ObjectNode
  readonly references: References
}

/** An object that an id refers to. */
export interface Reference {
  readonly kind: KindName
  /** The natural key in its parent. */
  readonly name: string
  /** The client of a client role, by client id. */
  readonly client?: string | undefined
  readonly attributes: Representation
}

/** An id of an object that the state does not contain. */
export class MissingReference extends Error {
  constructor(kind: KindName, id: string) {
    super(`refers to ${kinds[kind].title} ${id}, which the state does not contain`)
  }
}

/** Returns the kind and the name of the object of a resource. */
type Identify = (attributes: Representation, references: References) => Pick<Reference, 'kind' | 'name' | 'client'>

const byAttribute =
  (kind: KindName, attribute: string): Identify =>
  ({ [attribute]: name = null }) => ({ kind, name: String(name) })

const client = byAttribute('client', 'client_id')
const clientScope = byAttribute('clientScope', 'name')
const component = byAttribute('component', 'name')
const policy = byAttribute('authorizationPolicy', 'name')
const identityProvider = byAttribute('identityProvider', 'alias')

/** The types of resources and data sources that others refer to. */
const identities: Readonly<Record<string, Identify>> = {
  keycloak_openid_client: client,
  keycloak_saml_client: client,
  keycloak_openid_client_scope: clientScope,
  keycloak_saml_client_scope: clientScope,
  keycloak_role: ({ name = null, client_id: owner = null }, references) => ({
    kind: 'role',
    name: String(name),
    client: owner === null || owner === '' ? undefined : references.resolve('client', owner).name,
  }),
  keycloak_group: ({ name = null, parent_id: parent = null, path = null }, references) => ({
    kind: 'group',
    name:
      (parent === null || parent === '' ? '' : (references.find('group', parent)?.name ?? readParentPath(path))) +
      toPathSegment(String(name)),
  }),
  keycloak_user: byAttribute('user', 'username'),
  keycloak_openid_client_service_account_user: byAttribute('user', 'username'),
  keycloak_authentication_flow: byAttribute('authenticationFlow', 'alias'),
  keycloak_authentication_subflow: byAttribute('authenticationFlow', 'alias'),
  keycloak_ldap_user_federation: component,
  keycloak_custom_user_federation: component,
  keycloak_organization: ({ name = null, alias = null }) => ({
    kind: 'organization',
    name: String(alias === '' ? name : (alias ?? name)),
  }),
  keycloak_openid_client_authorization_resource: byAttribute('authorizationResource', 'name'),
  keycloak_openid_client_authorization_scope: byAttribute('authorizationScope', 'name'),
  ...Object.fromEntries(
    [
      ...['authorization_client_scope_policy', 'authorization_permission', 'authorization_policy'],
      ...['aggregate', 'client', 'group', 'js', 'regex', 'role', 'time', 'user'].map((type) => `${type}_policy`),
    ].map((type) => [`keycloak_openid_client_${type}`, policy]),
  ),
  keycloak_generic_client_authorization_policy: policy,
  ...Object.fromEntries(
    ['facebook', 'github', 'google', 'microsoft', 'openshift_v4'].map((type) => [
      `keycloak_oidc_${type}_identity_provider`,
      identityProvider,
    ]),
  ),
  keycloak_saml_identity_provider: identityProvider,
  keycloak_oidc_identity_provider: identityProvider,
}

function readParentPath(path: Json): string {
  const text = String(path ?? '')
  return text.slice(0, text.lastIndexOf('/'))
}

/** The objects of a state by id. */
export class References {
  readonly #resources: ReadonlyMap<string, StateResource>
  readonly #serviceAccounts: ReadonlyMap<string, string>

  constructor(resources: readonly StateResource[]) {
    // A data source may read an object that a resource declares.
    const sorted = resources.toSorted((a, b) => Number(b.isData) - Number(a.isData))
    this.#resources = new Map(
      sorted
        .filter(({ type }) => type === EXECUTION || Object.hasOwn(identities, type))
        .map((resource) => [String(resource.attributes.id), resource]),
    )
    this.#serviceAccounts = new Map(
      sorted
        .filter(({ type }) => type === 'keycloak_openid_client')
        .map(({ attributes }) => [String(attributes.service_account_user_id), String(attributes.client_id)]),
    )
  }

  /** Returns the client, by client id, whose service account has the id; undefined for another user. */
  findServiceAccountClient(userId: Json): string | undefined {
    const { username = null } = this.find('user', userId)?.attributes ?? {}
    const [, clientId] = /^service-account-(.+)$/.exec(String(username)) ?? []
    return this.#serviceAccounts.get(String(userId)) ?? clientId
  }

  /** Returns the attributes of the execution of a flow; undefined if the state does not contain it. */
  findExecution(id: Json): Representation | undefined {
    const resource = this.#resources.get(String(id))
    return resource?.type === EXECUTION ? resource.attributes : undefined
  }

  /** Returns the object with an id; undefined if the state does not contain it. */
  find(kind: KindName, id: Json): Reference | undefined {
    const resource = this.#resources.get(String(id))
    const identity = resource && identities[resource.type]?.(resource.attributes, this)
    return identity?.kind === kind ? { ...identity, attributes: resource!.attributes } : undefined
  }

  /**
   * Returns the object with an id.
   * @throws MissingReference if the state does not contain it.
   */
  resolve(kind: KindName, id: Json): Reference {
    const reference = this.find(kind, id)
    if (!reference) throw new MissingReference(kind, String(id))
    return reference
  }
}
