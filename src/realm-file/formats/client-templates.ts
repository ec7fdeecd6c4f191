// Client templates, which client scopes have taken the place of, as the reference server's import reads them.
import { builtInObjects } from '../../kinds/built-in/index.ts'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Templates read as client scopes, and the template of a client as one of its client scopes. */
export const clientTemplates: FormatConverter = {
  read: (realm, notes) => withTheirScopes(withScopes(realm, notes)),
  write: (realm) => realm,
}

/** Keycloak: of a template only what client scopes have counts. */
function withScopes(realm: Representation, { recordMove: moved }: ConversionContext): Representation {
  const { clientTemplates: templates = null, ...rest } = realm
  const { clientScopes: scopes = [] } = rest
  if (!Array.isArray(templates) || !Array.isArray(scopes)) return realm
  const added = templates.map((template, at) => {
    moved(['clientScopes', scopes.length + at], ['clientTemplates', at])
    if (!isObject(template)) return template
    const { name, ...own } = Object.fromEntries(Object.entries(template).filter(([name]) => ofScopes.includes(name)))
    return { ...own, ...(name !== undefined && { name: scopeOfTemplate(name) }) }
  })
  return { ...rest, clientScopes: [...scopes, ...added] }
}

const ofScopes = ['id', 'name', 'description', 'protocol', 'attributes', 'protocolMappers']

/** Returns the name of the client scope that a template is read as. Keycloak: a template's own may be no name of a client scope. */
export function scopeOfTemplate(template: Json): Json {
  return typeof template === 'string' ? template.replaceAll(/\s/g, '_') : template
}

/**
 * Keycloak: a client that has a template of its own protocol and states no client scopes has the template's besides those
 * that its realm gives; otherwise its template counts for nothing.
 */
function withTheirScopes(realm: Representation): Representation {
  const { clients, clientScopes = [] } = realm
  if (!Array.isArray(clients) || !clients.some((one) => isObject(one) && one.clientTemplate !== undefined)) return realm
  const [fresh, ...others] = builtInObjects(String(realm.realm))
  const known = others.filter(({ kind }) => kind === 'clientScope').map(({ representation }) => representation)
  const stated = Array.isArray(clientScopes) ? clientScopes.filter(isObject) : []
  const protocols = new Map([...known, ...stated].map(({ name, protocol }) => [name, protocol]))
  const given = (field: string, protocol: Json) => {
    const names = (realm[field] ?? fresh!.representation[field] ?? []) as Json[]
    return names.filter((name) => protocols.get(name) === protocol)
  }
  return {
    ...realm,
    clients: clients.map((client) => {
      if (!isObject(client)) return client
      const { clientTemplate = null, ...rest } = client
      const { protocol = 'openid-connect', defaultClientScopes = null, optionalClientScopes = null } = rest
      const name = scopeOfTemplate(clientTemplate)
      const counts = defaultClientScopes === null && optionalClientScopes === null && protocols.get(name) === protocol
      if (name === null || !counts) return client
      return {
        ...rest,
        defaultClientScopes: [...given('defaultDefaultClientScopes', protocol), name],
        optionalClientScopes: given('defaultOptionalClientScopes', protocol),
      }
    }),
  }
}
