// The realms that are measured: so many clients, and the same few objects of other kinds.
import { parseDocuments } from '../src/realm-file/document.ts'
import type { SourceState } from '../src/reconcile/run.ts'

/** A source of its own that states a realm with so many clients; `note` is one field of the first of them. */
export function sourceOf(realm: string, clients: number, note = 'first'): SourceState {
  return {
    name: `source-of-${realm}`,
    revision: note,
    documents: parseDocuments(`${realm}.json`, JSON.stringify(realmOf(realm, clients, note), null, 2)),
  }
}

/** The realm of such a source. */
export function realmOf(realm: string, clients: number, note = 'first'): object {
  return {
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
      authenticationExecutions: [{ authenticator: 'auth-cookie', requirement: 'ALTERNATIVE' }],
    })),
    authenticatorConfig: numbered(2).map((at) => ({
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
