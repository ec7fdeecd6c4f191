// Example responses for SAML clients: what a user's log-in would send to the client. They are neither signed nor encrypted, as in Keycloak.
import { randomBytes, randomUUID } from 'node:crypto'
import { escapeXml, renderElement } from '../../lib/xml.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { listMapperContainers, loadTokenUserData } from '../../service/login/token-content.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { getIssuer, type OidcRealm } from '../oidc-realm.ts'
import { type ExampleRequest, getExampleSubject } from '../tokens/scope-evaluation.ts'
import { addDefaultScopes, findMapperContainer, listScopeNames, parseScope } from '../tokens/scopes.ts'
import { viewClient } from '../views.ts'
import { type MappedAssertion, mapAssertion, type SamlAttribute } from './saml-attributes.ts'

/** Keycloak: the seconds before the current time from which an assertion is valid. */
const CLOCK_SKEW = 2

const NAME_ID = 'urn:oasis:names:tc:SAML'
/** The formats of names, by the values of the attribute `saml_name_id_format`. */
const FORMATS: Readonly<Record<string, string>> = {
  username: `${NAME_ID}:1.1:nameid-format:unspecified`,
  email: `${NAME_ID}:1.1:nameid-format:emailAddress`,
  persistent: `${NAME_ID}:2.0:nameid-format:persistent`,
  transient: `${NAME_ID}:2.0:nameid-format:transient`,
}

/** The parts of a response. */
interface ExampleResponse {
  readonly realm: OidcRealm
  readonly client: LiveObject
  readonly issuer: string
  readonly attributes: Readonly<Record<string, string>>
  readonly nameId: { readonly format: string; readonly value: string }
  readonly assertion: MappedAssertion
}

/** Returns an example response for a client and a user, as XML. Throws not_found, forbidden. Six statements at most. */
export async function generateSamlResponse(
  context: Context,
  { base, ...request }: Omit<ExampleRequest, 'audience'> & { readonly base: string },
): Promise<string> {
  const { client, user, realm } = await getExampleSubject(context, request)
  const { attributes = {}, protocol, fullScopeAllowed } = viewClient(client)
  const scopes = addDefaultScopes(client, parseScope(request.scope))
  const containers = await listMapperContainers(context, {
    client: client.id,
    scopes: listScopeNames(scopes),
    protocol: String(protocol),
  })
  const granted = scopes.flatMap((scope) => findMapperContainer(containers, scope) ?? [])
  const userData = await loadTokenUserData(context, user.id, {
    client: client.id,
    scopes: granted.map(({ id }) => id),
    fullScope: fullScopeAllowed === true,
    roles: true,
  })
  const permitted = granted.filter(({ id }) => userData.permitted.includes(id))
  const subject = { base, realm, client, user, scopes }
  const assertion = mapAssertion({ subject, userData, containers: [...permitted, containers.at(-1)!] })
  const format = FORMATS[attributes.saml_name_id_format ?? 'username'] ?? FORMATS.username!
  const value = assertion.findNameId(format) ?? createNameId(format, user)
  if (value === null || attributes['saml.encrypt'] === 'true')
    throw failure('not_found', 'Could not generate a SAML response for the given user and client')
  const parts = { realm, client, attributes, nameId: { format, value }, assertion }
  return renderResponse({ ...parts, issuer: getIssuer(base, realm) })
}

function createNameId(
  format: string,
  { username, email }: { readonly username: string; readonly email: string | null },
): string | null {
  if (format === FORMATS.username) return username
  return format === FORMATS.email ? email : `G-${randomUUID()}`
}

function renderResponse(response: ExampleResponse): string {
  const { realm, issuer } = response
  const names = { 'xmlns:samlp': `${NAME_ID}:2.0:protocol`, 'xmlns:saml': `${NAME_ID}:2.0:assertion` }
  const code = renderElement('samlp:StatusCode', { Value: `${NAME_ID}:2.0:status:Success` })
  return renderElement('samlp:Response', { ...names, ...identify(realm) }, [
    renderText('saml:Issuer', issuer),
    renderElement('samlp:Status', {}, [code]),
    renderAssertion(response),
  ])
}

const identify = ({ now }: OidcRealm) => ({
  ID: `ID_${randomUUID()}`,
  IssueInstant: now.toISOString(),
  Version: '2.0',
})

function renderAssertion({ realm, client, issuer, attributes, nameId, assertion }: ExampleResponse): string {
  const { accessCodeLifespan, accessTokenLifespan } = realm.settings
  const lifespan = Number(attributes['saml.assertion.lifespan']) || undefined
  const from = new Date(realm.now.getTime() - CLOCK_SKEW * 1000)
  const until = (seconds: number) => new Date(from.getTime() + seconds * 1000).toISOString()
  const confirmation = renderElement('saml:SubjectConfirmationData', {
    NotOnOrAfter: until(lifespan ?? accessTokenLifespan),
  })
  const audiences = [client.key[0]!, ...assertion.audiences].map((audience) => renderText('saml:Audience', audience))
  return renderElement('saml:Assertion', identify(realm), [
    renderText('saml:Issuer', issuer),
    renderElement('saml:Subject', {}, [
      renderText('saml:NameID', nameId.value, { Format: nameId.format }),
      renderElement('saml:SubjectConfirmation', { Method: `${NAME_ID}:2.0:cm:bearer` }, [confirmation]),
    ]),
    renderElement(
      'saml:Conditions',
      { NotBefore: from.toISOString(), NotOnOrAfter: until(lifespan ?? accessCodeLifespan) },
      [
        renderElement('saml:AudienceRestriction', {}, audiences),
        ...(attributes['saml.onetimeuse.condition'] === 'true' ? [renderElement('saml:OneTimeUse', {})] : []),
      ],
    ),
    ...(attributes['saml.authnstatement'] === 'true' ? [renderAuthentication(realm, client)] : []),
    ...(assertion.attributes.length
      ? [renderElement('saml:AttributeStatement', {}, assertion.attributes.map(renderAttribute))]
      : []),
  ])
}

function renderAuthentication({ now, settings }: OidcRealm, { id }: LiveObject): string {
  const end = new Date(now.getTime() + (settings.ssoSessionMaxLifespan ?? 0) * 1000)
  const statement = {
    AuthnInstant: now.toISOString(),
    SessionIndex: `${randomBytes(18).toString('base64url')}::${id}`,
    SessionNotOnOrAfter: end.toISOString(),
  }
  const reference = renderText('saml:AuthnContextClassRef', `${NAME_ID}:2.0:ac:classes:unspecified`)
  return renderElement('saml:AuthnStatement', statement, [renderElement('saml:AuthnContext', {}, [reference])])
}

const VALUE_TYPE = {
  'xmlns:xs': 'http://www.w3.org/2001/XMLSchema',
  'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
  'xsi:type': 'xs:string',
}

function renderAttribute({ name, friendlyName, format, values }: SamlAttribute): string {
  const content = values.map((value) => renderText('saml:AttributeValue', value, VALUE_TYPE))
  return renderElement('saml:Attribute', { FriendlyName: friendlyName, Name: name, NameFormat: format }, content)
}

const renderText = (name: string, text: string, attributes: Readonly<Record<string, string>> = {}): string =>
  renderElement(name, attributes, [escapeXml(text)])
