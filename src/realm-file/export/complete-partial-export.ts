// Completes a partial export with the computed and empty fields that Keycloak's has, and that clients of it read. Pure.
import { listTypesOfProvider } from '../../kinds/identity-provider-types.ts'
import {
  isList,
  isObject,
  type Json,
  omitUndefined,
  type Representation,
  readObject,
  readObjects,
  readTexts,
} from '../../kinds/json.ts'
import { listOtpApplications } from '../../kinds/realm.ts'
import { API_VERSION } from '../../lib/version.ts'
import { omitMemberships } from '../formats/organizations.ts'

/** A role of a live realm, as the default role is exported. */
export interface ExportedRole {
  readonly id: string
  readonly name: string
  readonly description?: Json | undefined
}

/** Values of a partial export that its objects do not declare, and the optional parts that it contains. */
export interface PartialExportContent {
  readonly realmId: string
  readonly defaultRole: ExportedRole | undefined
  /** Whether clients are included. */
  readonly clients: boolean
  /** Whether groups and roles are included. */
  readonly groupsAndRoles: boolean
}

/** Empty lists and objects of the realm itself. */
const EMPTY_FIELDS: Representation = {
  identityProviders: [],
  identityProviderMappers: [],
  localizationTexts: {},
  smtpServer: {},
}

/** Returns a partial export with all fields of Keycloak's. */
export function completePartialExport(document: Representation, content: PartialExportContent): Representation {
  const { realmId, defaultRole, clients, groupsAndRoles } = content
  return {
    ...EMPTY_FIELDS,
    ...(groupsAndRoles && { groups: [] }),
    ...mapField(omitEmptyFields(document), {
      groups: (group) => completeGroup(group, ''),
      clients: completeClient,
      identityProviders: (provider) => ({ ...provider, types: listTypesOfProvider(provider.providerId) }),
      clientScopes: (scope) => ({ attributes: {}, ...mapField(scope, { protocolMappers: completeMapper }) }),
      users: (user) => ({
        totp: false,
        disableableCredentialTypes: [],
        requiredActions: [],
        ...omitMemberships(user),
      }),
      authenticationFlows: (flow) => mapField(flow, { authenticationExecutions: completeExecution }),
      requiredActions: ({ id: _, ...action }) => ({ config: {}, ...action }),
    }),
    ...(groupsAndRoles && { roles: completeRoles(document, { realmId, clients }) }),
    ...(isObject(document.components) && { components: completeComponents(document.components) }),
    ...(defaultRole && {
      defaultRole: { ...omitUndefined({ ...defaultRole }), composite: true, clientRole: false, containerId: realmId },
    }),
    otpSupportedApplications: listOtpApplications(document),
    keycloakVersion: API_VERSION,
  }
}

/** Omits the fields that Keycloak omits while they are empty. */
function omitEmptyFields({ defaultGroups, passwordPolicy, ...document }: Representation): Representation {
  return omitUndefined({
    ...document,
    defaultGroups: readTexts(defaultGroups).length ? defaultGroups : undefined,
    passwordPolicy: passwordPolicy || undefined,
  })
}

type Complete = (representation: Representation) => Representation

/** Returns an object in which each element of these lists is completed. */
function mapField(object: Representation, completeByField: Readonly<Record<string, Complete>>): Representation {
  const lists = Object.entries(completeByField).flatMap(([field, complete]): [string, Json][] => {
    const list = object[field]
    return isList(list) ? [[field, list.map((element) => (isObject(element) ? complete(element) : element))]] : []
  })
  return { ...object, ...Object.fromEntries(lists) }
}

function completeGroup(group: Representation, parentPath: string): Representation {
  const path = `${parentPath}/${group.name}`
  const empty = { attributes: {}, realmRoles: [], clientRoles: {}, subGroups: [] }
  return { path, ...empty, ...mapField(group, { subGroups: (child) => completeGroup(child, path) }) }
}

const completeClient: Complete = (client) => ({
  authenticationFlowBindingOverrides: {},
  ...mapField(client, { protocolMappers: completeMapper }),
})

const completeMapper: Complete = (mapper) => ({ consentRequired: false, config: {}, ...mapper })

const completeExecution: Complete = (execution) => ({
  ...execution,
  autheticatorFlow: execution.authenticatorFlow ?? false,
})

/** Completes the roles, and adds an empty list for each client without roles. */
function completeRoles(
  document: Representation,
  { realmId, clients: hasClients }: Pick<PartialExportContent, 'realmId' | 'clients'>,
): Representation {
  const roles = readObject(document.roles)
  const complete = (containerId: Json, clientRole: boolean) => (role: Representation) => ({
    ...role,
    composite: isObject(role.composites),
    clientRole,
    containerId,
    attributes: role.attributes ?? {},
  })
  const rolesByClient = readObject(roles.client)
  const clients = readObjects(document.clients).map(({ clientId, id }): [string, Json] => {
    const rolesOfClient = readObjects(rolesByClient[String(clientId)])
    return [String(clientId), rolesOfClient.map(complete(id ?? null, true))]
  })
  return {
    ...mapField({ realm: [], ...roles }, { realm: complete(realmId, false) }),
    ...(hasClients && { client: Object.fromEntries(clients) }),
  }
}

/** Completes components by the type of their providers, and their subcomponents. */
function completeComponents(components: Representation): Representation {
  const completed = Object.entries(components).map(([type, list]): [string, Json] => [
    type,
    readObjects(list).map((component) => ({
      config: {},
      ...component,
      subComponents: completeComponents(readObject(component.subComponents)),
    })),
  ])
  return Object.fromEntries(completed)
}
