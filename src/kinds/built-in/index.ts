// What the reference server gives to a new realm, recorded from it: as data, cut into objects once.
import { adminPermissionsClient, permissionScopes, permissionTypes } from '../admin-permissions.ts'
import { client } from '../client.ts'
import type { Representation } from '../json.ts'
import type { Key } from '../kind.ts'
import { splitTree, type TreeObject } from '../tree.ts'
import adminClient from './admin-client.json' with { type: 'json' }
import everyRealm from './every-realm.json' with { type: 'json' }
import masterRealm from './master.json' with { type: 'json' }
import otherRealm from './realm.json' with { type: 'json' }

/** Keycloak: the realm whose administrators administer every realm. */
export const MASTER = 'master'

/** A realm's name in a template, which is text of JSON: no realm can be called so. */
export const ANY_REALM = '{realm}'

/** The client in master whose roles administer a realm. */
export const getAdminClientId = (realm: string): string => `${realm}-realm`

/** Whether a client is one through which a realm is administered: those stand in master. */
export const isAdminClient = (realm: string, client: string): boolean =>
  realm === MASTER && client.endsWith(getAdminClientId(''))

const templates = { master: template(masterRealm), other: template(otherRealm) }
const adminTemplate = JSON.stringify(
  splitTree({
    realm: MASTER,
    clients: [adminClient.client],
    roles: { client: { [adminClient.client.clientId]: adminClient.roles } },
  }).slice(1),
)

/** The objects of a new realm, the realm itself first. */
export function builtInObjects(realm: string): TreeObject[] {
  return instantiate(realm === MASTER ? templates.master : templates.other, realm)
}

/** The client in master, with its roles, through which a realm is administered. */
export function adminClientObjects(realm: string): TreeObject[] {
  return instantiate(adminTemplate, realm)
}

/** The client that comes with the switch of a realm for permissions of administrators, with the scopes and resources that it always has. */
export function adminPermissionsObjects(): TreeObject[] {
  const representation = { ...client.defaults(adminPermissionsClient), ...adminPermissionsClient }
  return splitTree({
    realm: ANY_REALM,
    clients: [
      {
        ...representation,
        authorizationScopes: permissionScopes.map((name) => ({ name })),
        authorizationResources: Object.entries(permissionTypes).map(([name, { scopes }]) => ({
          name,
          type: name,
          scopes: [...scopes],
        })),
      },
    ],
  }).slice(1)
}

/** Whether a new realm of that name has an object with that key. */
export function isBuiltIn(realm: string, kind: string, key: Key): boolean {
  return builtInKeys(realm).has(JSON.stringify([kind, ...key]))
}

const keys = new Map<string, ReadonlySet<string>>()

function builtInKeys(realm: string): ReadonlySet<string> {
  const known = keys.get(realm)
  if (known) return known
  const own = new Set(builtInObjects(realm).map(({ kind, key }) => JSON.stringify([kind, ...key])))
  // Realm names are the caller's: what is remembered of them is bounded.
  if (keys.size > 100) keys.clear()
  keys.set(realm, own)
  return own
}

/** The role that everybody in a new realm has. Keycloak: in lower case, whatever the realm is called. */
export const getDefaultRoleName = (realm: string): string => `default-roles-${realm.toLowerCase()}`

/** What stands for an id in a template: `filled` puts the id of that number in its place. */
export const idPlaceholder = (number: number): string => `{id:${number}}`

/** The text of a template with the name of a realm, and with ids by their numbers. */
export function fillTemplate(template: string, realm: string, ids: readonly string[] = []): string {
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1)
  const [name, role] = [quoted(realm), quoted(getDefaultRoleName(realm))]
  return template.replaceAll(/(default-roles-)?\{realm\}|\{id:(\d+)\}/g, (_, ofRole, number) => {
    if (number !== undefined) return quoted(ids[number]!)
    return ofRole === undefined ? name : role
  })
}

function instantiate(text: string, realm: string): TreeObject[] {
  return JSON.parse(fillTemplate(text, realm)) as TreeObject[]
}

/** The template of a realm: what every realm has, and what this sort of realm has besides or instead. */
function template(own: Own): string {
  const { settings, clients = [], components = [], roles, authenticationFlows } = own
  const common = everyRealm as Representation & {
    roles: Groups
    clients: object[]
    components: object[]
    authenticationFlows: object[]
  }
  const special = roles as Groups
  const tree = {
    realm: ANY_REALM,
    ...otherRealm.settings,
    ...settings,
    defaultDefaultClientScopes: common.defaultDefaultClientScopes,
    defaultOptionalClientScopes: common.defaultOptionalClientScopes,
    clientScopes: common.clientScopes,
    clients: [...common.clients, ...clients],
    components: [...common.components, ...components],
    roles: {
      realm: [...(common.roles.realm ?? []), ...(special.realm ?? [])],
      client: { ...common.roles.client, ...special.client },
    },
    authenticationFlows: [...common.authenticationFlows, ...authenticationFlows],
    authenticatorConfig: common.authenticatorConfig,
    requiredActions: common.requiredActions,
  }
  return JSON.stringify(splitTree(tree as Representation))
}

interface Own {
  settings: object
  clients?: object[]
  components?: object[]
  roles: object
  authenticationFlows: object[]
}

interface Groups {
  realm?: object[]
  client?: Record<string, object[]>
}
