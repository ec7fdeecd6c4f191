// The built-in objects of a new realm, recorded from Keycloak.
import { adminPermissionsClient, permissionScopes, permissionTypes } from '../admin-permissions.ts'
import { client } from '../client.ts'
import { type Representation, readObject, readObjects } from '../json.ts'
import type { Key } from '../kind.ts'
import { splitTree, type TreeObject } from '../tree.ts'
import adminClient from './admin-client.json' with { type: 'json' }
import everyRealm from './every-realm.json' with { type: 'json' }
import masterRealm from './master.json' with { type: 'json' }
import otherRealm from './realm.json' with { type: 'json' }

/** Keycloak: the realm whose administrators administer every realm. */
export const MASTER = 'master'

/** The placeholder for the name of a realm in a template. No realm can have this name. */
export const ANY_REALM = '{realm}'

/** Returns the client id of the client in master with the admin roles of a realm. */
export const getAdminClientId = (realm: string): string => `${realm}-realm`

/** Whether a client has the admin roles of a realm. Such clients are in master. */
export const isAdminClient = (realm: string, client: string): boolean =>
  realm === MASTER && client.endsWith(getAdminClientId(''))

const templates = { master: createTemplate(masterRealm), other: createTemplate(otherRealm) }
const adminTemplate = JSON.stringify(
  splitTree({
    realm: MASTER,
    clients: [adminClient.client],
    roles: { client: { [adminClient.client.clientId]: adminClient.roles } },
  }).slice(1),
)

/** Returns the objects of a new realm, the realm itself first. */
export function builtInObjects(realm: string): TreeObject[] {
  return instantiate(realm === MASTER ? templates.master : templates.other, realm)
}

/** Returns the client in master with the admin roles of a realm, and these roles. */
export function adminClientObjects(realm: string): TreeObject[] {
  return instantiate(adminTemplate, realm)
}

/** Returns the client that is created when a realm enables fine-grained admin permissions, with its scopes and resources. */
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

/** Whether a new realm of this name has an object with this key. */
export function isBuiltIn(realm: string, kind: string, key: Key): boolean {
  return getBuiltInKeys(realm).has(JSON.stringify([kind, ...key]))
}

const keysByRealm = new Map<string, ReadonlySet<string>>()

function getBuiltInKeys(realm: string): ReadonlySet<string> {
  const cached = keysByRealm.get(realm)
  if (cached) return cached
  const keys = new Set(builtInObjects(realm).map(({ kind, key }) => JSON.stringify([kind, ...key])))
  // Limited, since callers choose the names of realms.
  if (keysByRealm.size > 100) keysByRealm.clear()
  keysByRealm.set(realm, keys)
  return keys
}

/** Returns the name of the default role in a new realm. Keycloak: the name of the realm is in lower case. */
export const getDefaultRoleName = (realm: string): string => `default-roles-${realm.toLowerCase()}`

/** Returns the placeholder for an id in a template. */
export const idPlaceholder = (number: number): string => `{id:${number}}`

/** The parts of templates: a text, then for each placeholder the prefix of the name, the number of the id, and the text behind it. */
const partsByTemplate = new Map<string, readonly (string | undefined)[]>()

function splitTemplate(template: string): readonly (string | undefined)[] {
  const parts = partsByTemplate.get(template) ?? template.split(/(default-roles-)?\{realm\}|\{id:(\d+)\}/)
  // There are few templates, and they are constant.
  partsByTemplate.set(template, parts)
  return parts
}

/** Fills a template with the name of a realm and with ids, by the numbers of their placeholders. */
export function fillTemplate(template: string, realm: string, ids: readonly string[] = []): string {
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1)
  const [name, role] = [quoted(realm), quoted(getDefaultRoleName(realm))]
  const parts = splitTemplate(template)
  let text = parts[0]!
  for (let at = 1; at < parts.length; at += 3) {
    const [rolePrefix, number, next] = [parts[at], parts[at + 1], parts[at + 2]!]
    text += number === undefined ? (rolePrefix === undefined ? name : role) : quoted(ids[Number(number)]!)
    text += next
  }
  return text
}

function instantiate(text: string, realm: string): TreeObject[] {
  return JSON.parse(fillTemplate(text, realm))
}

/** Creates the template of a realm, from what every realm has and what only this realm has. */
function createTemplate(realm: Representation): string {
  const common: Representation = everyRealm
  const joinLists = (field: string) => [...readObjects(common[field]), ...readObjects(realm[field])]
  const [commonRoles, roles] = [readObject(common.roles), readObject(realm.roles)]
  const tree = {
    realm: ANY_REALM,
    ...otherRealm.settings,
    ...readObject(realm.settings),
    defaultDefaultClientScopes: common.defaultDefaultClientScopes!,
    defaultOptionalClientScopes: common.defaultOptionalClientScopes!,
    clientScopes: common.clientScopes!,
    clients: joinLists('clients'),
    components: joinLists('components'),
    roles: {
      realm: [...readObjects(commonRoles.realm), ...readObjects(roles.realm)],
      client: { ...readObject(commonRoles.client), ...readObject(roles.client) },
    },
    authenticationFlows: joinLists('authenticationFlows'),
    authenticatorConfig: common.authenticatorConfig!,
    requiredActions: common.requiredActions!,
  }
  return JSON.stringify(splitTree(tree))
}
