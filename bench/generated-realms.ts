// Generates the realms that are measured: with any number of clients and users, and always the same few objects of other kinds.
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'
import type { SourceContent } from '../src/reconcile/read/source-content.ts'

const CONFIGS = 2
/** The claims of the first mappers of a client. */
const CLAIMS = ['department', 'floor']

/** The size of a realm. */
export interface RealmSize {
  readonly clientCount: number
  readonly userCount?: number
  /** Protocol mappers of each client, by default 2. */
  readonly mapperCount?: number
  /** The description of the first client, by default "first". */
  readonly note?: string
}

/** Returns a source of its own that declares such a realm. */
export function createSource(realm: string, size: RealmSize): SourceContent {
  const file = `${realm}.json`
  const text = JSON.stringify(createRealmDocument(realm, size), null, 2)
  return {
    name: `source-of-${realm}`,
    revision: size.note ?? 'first',
    documents: parseDocuments(file, text),
    files: [{ file, text, values: [] }],
  }
}

/** Returns the document of such a realm. */
export function createRealmDocument(
  realm: string,
  { clientCount, userCount = 0, mapperCount = 2, note = 'first' }: RealmSize,
): object {
  return {
    ...(userCount && createUserData(userCount)),
    realm,
    enabled: true,
    displayName: 'Measured',
    clientScopes: numbersTo(5).map((at) => ({
      name: `scope-${at}`,
      protocol: 'openid-connect',
      protocolMappers: [createMapper(`scope-claim-${at}`)],
    })),
    authenticationFlows: numbersTo(3).map((at) => ({
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
    authenticatorConfig: numbersTo(CONFIGS).map((at) => ({
      alias: `config-${at}`,
      config: { 'default.provider': `idp-${at}` },
    })),
    clients: numbersTo(clientCount).map((at) => ({
      clientId: `client-${at}`,
      name: `Client ${at}`,
      description: at === 0 ? note : 'one of many',
      redirectUris: [`https://client-${at}.example.com/callback`, `https://client-${at}.example.com/silent`],
      webOrigins: [`https://client-${at}.example.com`],
      attributes: { 'post.logout.redirect.uris': '+', 'access.token.lifespan': '300' },
      protocolMappers: numbersTo(mapperCount).map((mapper) => createMapper(CLAIMS[mapper] ?? `claim-${mapper}`)),
    })),
  }
}

/** Returns this many users in a few groups and with a few roles, as an export of another server contains them. */
function createUserData(userCount: number): object {
  const hashOf = (at: number) => ({
    value: Buffer.from(`the hash of the password of user ${at}`).toString('base64'),
    salt: Buffer.from(`salt ${at}`).toString('base64'),
    additionalParameters: {},
  })
  const credentialData = JSON.stringify({ hashIterations: 27_500, algorithm: 'pbkdf2-sha256' })
  return {
    roles: { realm: numbersTo(10).map((at) => ({ name: `role-${at}` })) },
    groups: numbersTo(10).map((at) => ({ name: `group-${at}`, subGroups: [{ name: 'inner' }] })),
    users: numbersTo(userCount).map((at) => ({
      username: `user-${at}`,
      email: `user-${at}@example.com`,
      firstName: 'User',
      lastName: `Number ${at}`,
      enabled: true,
      attributes: { department: [`department ${at % 100}`] },
      credentials: [{ type: 'password', secretData: JSON.stringify(hashOf(at)), credentialData }],
      realmRoles: [`role-${at % 10}`],
      groups: [`/group-${at % 10}/inner`],
    })),
  }
}

function createMapper(name: string) {
  return {
    name,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-usermodel-attribute-mapper',
    config: { 'user.attribute': name, 'claim.name': name, 'jsonType.label': 'String', 'access.token.claim': 'true' },
  }
}

function numbersTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}
