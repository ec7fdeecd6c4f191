// The document of a preview: a realm under another name, without secrets, and without what sends emails or connects to other systems. Pure.
import { getDefaultRoleName } from '../../kinds/built-in/index.ts'
import { isList, isObject, type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import { MASK } from '../../kinds/mask.ts'

/** The types of components that connect to other systems, or contain keys. */
const OMITTED_COMPONENTS = ['org.keycloak.storage.UserStorageProvider', 'org.keycloak.keys.KeyProvider']

/** The attributes of clients with URLs that the server calls, and those that need them. */
const OMITTED_ATTRIBUTES = [
  'backchannel.logout.url',
  'jwks.url',
  'use.jwks.url',
  'ciba.backchannel.client.notification.endpoint',
  'saml.metadata.url',
]

/** Returns the document of a preview of a realm. `document`: the realm without users. */
export function toPreviewDocument(
  { id: _, smtpServer: __, users, ...document }: Representation,
  preview: string,
): Representation {
  const components = Object.entries(readObject(document.components)).filter(
    ([type]) => !OMITTED_COMPONENTS.includes(type),
  )
  const { frontendUrl: ___, ...attributes } = readObject(document.attributes)
  return readObject(
    omitMasks({
      defaultRole: { name: getDefaultRoleName(String(document.realm)) },
      ...document,
      realm: preview,
      attributes,
      components: Object.fromEntries(components),
      // Service accounts have the name of their client.
      users: readObjects(users).map(({ federationLink: _, credentials: __, ...user }) => user),
      clients: readObjects(document.clients).map(disconnectClient),
      identityProviders: readObjects(document.identityProviders).map((provider) => ({ ...provider, enabled: false })),
    }),
  )
}

function disconnectClient({ adminUrl: _, ...client }: Representation): Representation {
  const attributes = Object.entries(readObject(client.attributes)).filter(
    ([name]) => !OMITTED_ATTRIBUTES.includes(name),
  )
  return { ...client, attributes: Object.fromEntries(attributes) }
}

/** Returns the value without the members and elements that are masked secrets. */
function omitMasks(value: Json): Json {
  if (isList(value)) return value.filter((element) => element !== MASK).map(omitMasks)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === MASK ? [] : [[name, omitMasks(member)]])),
  )
}
