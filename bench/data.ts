// The realms that are measured: so many clients, and the same few objects of other kinds.
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'
import type { SourceContent } from '../src/reconcile/read/source-content.ts'

const CONFIGS = 2

/** A source of its own that states a realm with so many clients; `note` is one field of the first of them. */
export function sourceOf(realm: string, clients: number, note = 'first', people = 0): SourceContent {
  const file = `${realm}.json`
  const text = JSON.stringify(realmOf(realm, clients, note, people), null, 2)
  return {
    name: `source-of-${realm}`,
    revision: note,
    documents: parseDocuments(file, text),
    files: [{ file, text, values: [] }],
  }
}

/** The realm of such a source. */
export function realmOf(realm: string, clients: number, note = 'first', people = 0): object {
  return {
    ...(people && populated(people)),
    realm,
    enabled: true,
    displayName: 'Measured',
    clientScopes: numbered(5).map((at) => ({
      name: `scope-${at}`,
      protocol: 'openid-connect',
      protocolMappers: [claim(`scope-claim-${at}`)],
    })),
    authenticationFlows: numbered(3).map((at) => ({
      alias: `flow-${at}`,
      providerId: 'basic-flow',
      topLevel: true,
      authenticationExecutions: [
        {
          authenticator: 'identity-provider-redirector',
          requirement: 'ALTERNATIVE',
          ...(at < CONFIGS && { authenticatorConfig: `config-${at}` }),
        },
      ],
    })),
    authenticatorConfig: numbered(CONFIGS).map((at) => ({
      alias: `config-${at}`,
      config: { 'default.provider': `idp-${at}` },
    })),
    clients: numbered(clients).map((at) => ({
      clientId: `client-${at}`,
      name: `Client ${at}`,
      description: at === 0 ? note : 'one of many',
      redirectUris: [`https://client-${at}.example.com/callback`, `https://client-${at}.example.com/silent`],
      webOrigins: [`https://client-${at}.example.com`],
      attributes: { 'post.logout.redirect.uris': '+', 'access.token.lifespan': '300' },
      protocolMappers: [claim('department'), claim('floor')],
    })),
  }
}

/** So many people, in a few groups and with a few roles, as a migration from another server states them. */
function populated(people: number): object {
  const hashOf = (at: number) => ({
    value: Buffer.from(`the hash of the password of person ${at}`).toString('base64'),
    salt: Buffer.from(`salt ${at}`).toString('base64'),
    additionalParameters: {},
  })
  const credentialData = JSON.stringify({ hashIterations: 27_500, algorithm: 'pbkdf2-sha256' })
  return {
    roles: { realm: numbered(10).map((at) => ({ name: `role-${at}` })) },
    groups: numbered(10).map((at) => ({ name: `group-${at}`, subGroups: [{ name: 'inner' }] })),
    users: numbered(people).map((at) => ({
      username: `person-${at}`,
      email: `person-${at}@example.com`,
      firstName: 'Person',
      lastName: `Number ${at}`,
      enabled: true,
      attributes: { department: [`department ${at % 100}`] },
      credentials: [{ type: 'password', secretData: JSON.stringify(hashOf(at)), credentialData }],
      realmRoles: [`role-${at % 10}`],
      groups: [`/group-${at % 10}/inner`],
    })),
  }
}

function claim(name: string) {
  return {
    name,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-usermodel-attribute-mapper',
    config: { 'user.attribute': name, 'claim.name': name, 'jsonType.label': 'String', 'access.token.claim': 'true' },
  }
}

function numbered(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}
