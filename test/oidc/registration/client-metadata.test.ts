// Tables of the pure core: client metadata as clients and back, and the decisions of policies.
import { expect, test } from 'vitest'
import { toClientMetadata } from '../../../src/service/clients/client-metadata-response.ts'
import { readMetadata } from '../../../src/service/registration/registration-metadata.ts'
import { findPolicyRefusal, imposeFields } from '../../../src/service/registration/registration-policies.ts'
import { listClientHosts, matchesHost } from '../../../src/service/registration/trusted-hosts.ts'

const REDIRECT = 'https://app.example.org/cb'
const convert = (metadata: object) =>
  toClientMetadata({ clientId: 'app', secret: 's', ...readMetadata({ redirect_uris: [REDIRECT], ...metadata }) })
const CODE = ['code', 'none']
const IMPLICIT = ['id_token', 'id_token token']

test.each([
  [{}, { grant_types: ['authorization_code', 'refresh_token'], response_types: CODE }],
  [{ response_types: ['id_token'] }, { grant_types: ['implicit', 'refresh_token'], response_types: IMPLICIT }],
  [
    { response_types: ['code id_token'] },
    { response_types: [...CODE, ...IMPLICIT, 'code id_token', 'code token', 'code id_token token'] },
  ],
  [{ grant_types: ['client_credentials'] }, { grant_types: ['client_credentials'], response_types: [] }],
  [{ grant_types: ['nowhere'] }, { grant_types: [], response_types: [] }],
  [
    { grant_types: ['password', 'urn:openid:params:grant-type:ciba', 'refresh_token'] },
    { grant_types: ['password', 'urn:openid:params:grant-type:ciba', 'refresh_token'] },
  ],
  [{}, { token_endpoint_auth_method: 'client_secret_basic', client_secret: 's', client_secret_expires_at: 0 }],
  [{ token_endpoint_auth_method: 'client_secret_post' }, { token_endpoint_auth_method: 'client_secret_post' }],
  [{ token_endpoint_auth_method: 'none' }, { token_endpoint_auth_method: 'none', client_secret: undefined }],
  [
    { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kid: 'k' }] } },
    { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ kid: 'k' }] }, client_secret: undefined },
  ],
  [{ jwks_uri: 'https://app.example.org/keys' }, { jwks_uri: 'https://app.example.org/keys', jwks: undefined }],
  [{ scope: 'address email' }, { scope: 'address email' }],
  [{ subject_type: 'pairwise' }, { subject_type: 'pairwise' }],
  [{}, { subject_type: 'public', post_logout_redirect_uris: [REDIRECT], request_uris: [] }],
  [{ post_logout_redirect_uris: ['https://a.org/'] }, { post_logout_redirect_uris: ['https://a.org/'] }],
  [{ dpop_bound_access_tokens: true }, { dpop_bound_access_tokens: true }],
  [
    { backchannel_logout_uri: 'https://a.org/' },
    { backchannel_logout_uri: 'https://a.org/', backchannel_logout_session_required: true },
  ],
])('the metadata %j become those of %j', (metadata, expected) => {
  expect(convert(metadata)).toMatchObject(
    Object.fromEntries(Object.entries(expected).filter(([, value]) => value !== undefined)),
  )
  for (const [name, value] of Object.entries(expected))
    if (value === undefined) expect(convert(metadata)).not.toHaveProperty(name)
})

test.each([
  ['example.org', 'example.org', true],
  ['Example.org', 'EXAMPLE.ORG', true],
  ['example.org', 'a.example.org', false],
  ['*.example.org', 'a.b.example.org', true],
  ['*.example.org', 'example.org', true],
  ['*.example.org', 'badexample.org', false],
  ['*.', 'org', false],
  ['', '', false],
])('the entry %j of trusted hosts matches the host %j: %s', (entry, host, expected) => {
  expect(matchesHost(entry, host)).toBe(expected)
})

test('the hosts of all URLs of a client are found, and those of paths are not', () => {
  const client = {
    rootUrl: 'https://a.org',
    redirectUris: [
      'https://b.org:8080/x',
      '/path',
      '//c.org/x',
      '/\\d.org',
      'app:/x',
      'app://b.org/x',
      'http://[::1]/x',
    ],
    webOrigins: ['+', '*'],
    attributes: { 'backchannel.logout.url': 'https://e.org', 'request.uris': 'https://f.org/##https://g.org/' },
  }
  const hosts = ['a.org', 'b.org', '', '', '', '', '::1', '', 'e.org', 'f.org', 'g.org']
  expect(listClientHosts(client).sort()).toEqual(hosts.sort())
})

const request = {
  operation: 'register',
  client: { clientId: 'app' },
  senderHosts: [],
  clientCount: 7,
  defaultScopes: ['profile'],
} as const
const live = { consentRequired: true, fullScopeAllowed: false, enabled: false, defaultClientScopes: ['old'] }

test.each([
  ['trusted-hosts', {}, {}, true],
  ['trusted-hosts', { 'trusted-hosts': ['a.org'] }, { senderHosts: ['a.org'] }, false],
  ['trusted-hosts', { 'trusted-hosts': ['a.org'] }, { operation: 'delete', client: undefined }, true],
  ['trusted-hosts', { 'host-sending-registration-request-must-match': ['false'] }, {}, false],
  ['consent-required', {}, { live, client: { consentRequired: false } }, true],
  ['consent-required', {}, { live, client: { consentRequired: true } }, false],
  ['consent-required', {}, { live: {}, client: { consentRequired: false } }, false],
  ['scope', {}, { live, client: { fullScopeAllowed: true } }, true],
  ['scope', {}, { live, client: {} }, false],
  ['client-disabled', {}, { live, client: { enabled: true } }, true],
  ['client-disabled', {}, { live: { enabled: true }, client: { enabled: true } }, false],
  ['max-clients', { 'max-clients': ['7'] }, {}, true],
  ['max-clients', { 'max-clients': ['8'] }, {}, false],
  ['max-clients', {}, {}, true],
  ['max-clients', { 'max-clients': ['many'] }, {}, true],
  ['max-clients', { 'max-clients': ['7'] }, { operation: 'update', live }, false],
  ['allowed-client-templates', {}, { client: { optionalClientScopes: ['profile'] } }, false],
  ['allowed-client-templates', {}, { client: { optionalClientScopes: ['admin'] } }, true],
  ['allowed-client-templates', {}, { live, client: { defaultClientScopes: ['old'] } }, false],
  ['allowed-protocol-mappers', {}, { client: { protocolMappers: [{ protocolMapper: 'x' }] } }, true],
  ['registration-web-origins', {}, {}, false],
  ['own-rule', {}, {}, true],
  ['own-rule', {}, { operation: 'view', client: undefined }, true],
  ['toString', {}, {}, true],
] as const)('a policy of the provider %s with %j refuses %j: %s', (providerId, config, change, isRefused) => {
  const refusal = findPolicyRefusal([{ name: 'policy', providerId, config }], { ...request, ...change })
  expect(refusal?.policy).toBe(isRefused ? 'policy' : undefined)
})

test('policies impose their fields on new clients, whatever these declare', () => {
  const policies = ['consent-required', 'scope', 'client-disabled', 'max-clients'].map((providerId) => ({
    name: providerId,
    providerId,
    config: {},
  }))
  expect(imposeFields(policies, { clientId: 'app', enabled: true })).toEqual({
    clientId: 'app',
    consentRequired: true,
    fullScopeAllowed: false,
    enabled: false,
  })
})
