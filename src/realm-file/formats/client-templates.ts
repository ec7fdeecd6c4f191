// Legacy fields of clients, as Keycloak's import reads them: client templates, the predecessors of client scopes, and `directGrantsOnly`.
import { builtInObjects } from '../../kinds/built-in/index.ts'
import { readDirectGrantsOnly } from '../../kinds/client.ts'
import { isList, isObject, type Json, type Representation, readTexts } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Reads client templates as client scopes, the template of a client as one of its client scopes, and `directGrantsOnly`. */
export const clientTemplates: FormatConverter = {
  read: (realm, context) => readGrants(assignTemplates(convertTemplates(realm, context))),
  write: (realm) => realm,
}

function readGrants(realm: Representation): Representation {
  const { clients } = realm
  if (!isList(clients)) return realm
  return { ...realm, clients: clients.map((client) => (isObject(client) ? readDirectGrantsOnly(client) : client)) }
}

/** Keycloak: uses only the fields of a template that client scopes have. */
function convertTemplates(realm: Representation, { recordMove }: ConversionContext): Representation {
  const { clientTemplates: templates = null, ...rest } = realm
  const { clientScopes: scopes = [] } = rest
  if (!isList(templates) || !isList(scopes)) return realm
  const converted = templates.map((template, at) => {
    recordMove(['clientScopes', scopes.length + at], ['clientTemplates', at])
    if (!isObject(template)) return template
    const fields = Object.fromEntries(Object.entries(template).filter(([name]) => SCOPE_FIELDS.includes(name)))
    return { ...fields, ...(fields.name !== undefined && { name: toClientScopeName(fields.name) }) }
  })
  return { ...rest, clientScopes: [...scopes, ...converted] }
}

const SCOPE_FIELDS = ['id', 'name', 'description', 'protocol', 'attributes', 'protocolMappers']

/** Returns the name of the client scope for a template. Keycloak: the name of a template may be invalid for a client scope. */
export function toClientScopeName(template: Json): Json {
  return typeof template === 'string' ? template.replaceAll(/\s/g, '_') : template
}

/**
 * Keycloak: if a client declares no client scopes and has a template with its protocol, it gets the client scope of the template besides
 * the default client scopes of the realm. Otherwise its template is ignored.
 */
function assignTemplates(realm: Representation): Representation {
  const { clients } = realm
  if (!isList(clients) || !clients.some((client) => isObject(client) && client.clientTemplate !== undefined))
    return realm
  const [builtInRealm, ...builtInContent] = builtInObjects(String(realm.realm))
  const builtInScopes = builtInContent.filter(({ kind }) => kind === 'clientScope')
  const declaredScopes = isList(realm.clientScopes) ? realm.clientScopes.filter(isObject) : []
  const scopes = [...builtInScopes.map(({ representation }) => representation), ...declaredScopes]
  const protocols = new Map(scopes.map(({ name, protocol }) => [name, protocol]))
  const getDefaultScopes = (field: string, protocol: Json) =>
    readTexts(realm[field] ?? builtInRealm!.representation[field]).filter((name) => protocols.get(name) === protocol)
  const assignTemplate = (client: Representation): Representation => {
    const { clientTemplate = null, ...rest } = client
    const { protocol = 'openid-connect', defaultClientScopes = null, optionalClientScopes = null } = rest
    const scope = toClientScopeName(clientTemplate)
    const declaresScopes = defaultClientScopes !== null || optionalClientScopes !== null
    if (scope === null || declaresScopes || protocols.get(scope) !== protocol) return client
    return {
      ...rest,
      defaultClientScopes: [...getDefaultScopes('defaultDefaultClientScopes', protocol), scope],
      optionalClientScopes: getDefaultScopes('defaultOptionalClientScopes', protocol),
    }
  }
  return { ...realm, clients: clients.map((client) => (isObject(client) ? assignTemplate(client) : client)) }
}
