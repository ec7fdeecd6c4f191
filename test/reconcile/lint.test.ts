// `regent lint`: what each rule finds and what it does not, how something is said to be meant, and findings under plans.
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/json.ts'
import { unwrapResources } from '../../src/realm-file/resources/unwrap-resources.ts'
import { substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { findLintFindings, type LintFinding, lintRules } from '../../src/reconcile/lint/lint.ts'
import { readDesiredRealms } from '../../src/reconcile/merge/desired-realm.ts'
import { deserializeSource, listVariableValues } from '../../src/reconcile/read/source-text.ts'
import { renderOutcome, withoutColors } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { openVault } from '../../src/service/context/vault.ts'
import { realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { createSource } from '../support/sources.ts'

useNewRealmPerTest()

const env = { SECRET: 'from outside' }

/** What is found in a YAML or JSON text, as `regent lint` reads it. */
function found(text: string): LintFinding[] {
  const options = { env, readFile: () => '', isAllowed: () => true }
  const { documents } = unwrapResources(parseDocuments('a.yaml', text).map((one) => substituteVariables(one, options)))
  return readDesiredRealms(documents, { vault: openVault(Buffer.alloc(32)) }).flatMap(({ name, objects }) =>
    findLintFindings(name, [...objects.values()]),
  )
}

const inRealm = (stated: Representation) => found(JSON.stringify({ realm: 'acme', ...stated }))
const client = (stated: Representation) => ({ clients: [{ clientId: 'shop', ...stated }] })
const provider = (providerId: string, config: Representation) => ({
  identityProviders: [{ alias: 'partner', providerId, config }],
})
const store = (config: Representation) => ({
  components: { 'org.keycloak.storage.UserStorageProvider': [{ name: 'staff', providerId: 'ldap', config }] },
})
const pkce = { publicClient: true, attributes: { 'pkce.code.challenge.method': 'S256' } }
const mail = { host: 'mail.example', from: 'a@acme.example' }

const cases: Record<string, { finds: Representation[]; not: Representation[] }> = {
  'plain-secret': {
    finds: [
      client({ secret: 'hunter2' }),
      client({ secret: '$(env:NOBODY:-hunter2)' }),
      { smtpServer: { ...mail, password: 'hunter2' } },
      provider('oidc', { clientSecret: 'hunter2' }),
      store({ bindCredential: ['hunter2'] }),
      { users: [{ username: 'ann', credentials: [{ type: 'password', value: 'hunter2' }] }] },
      {
        users: [{ username: 'ann', credentials: [{ type: 'otp', secretData: '{"value":"x"}', credentialData: '{}' }] }],
      },
    ],
    not: [
      client({ secret: '$(env:SECRET)' }),
      client({ secret: '$(env:NOBODY:-$(env:SECRET))' }),
      client({ secret: '$(generated:shop)' }),
      client({ secret: '**********' }),
      { smtpServer: { ...mail, password: '${vault.mail}' } },
      store({ bindCredential: ['$(env:SECRET)'] }),
      { users: [{ username: 'ann', credentials: [{ type: 'password', value: '$(env:SECRET)' }] }] },
      {
        users: [
          { username: 'ann', credentials: [{ type: 'password', secretData: '{"value":"x"}', credentialData: '{}' }] },
        ],
      },
    ],
  },
  'wildcard-redirect': {
    finds: [
      client({ redirectUris: ['*'] }),
      client({ redirectUris: ['https://shop.example/*'] }),
      client({ attributes: { 'post.logout.redirect.uris': 'https://shop.example/##https://shop.example/*' } }),
    ],
    not: [
      client({ redirectUris: ['https://shop.example/callback'], attributes: { 'post.logout.redirect.uris': '+' } }),
    ],
  },
  'plain-redirect': {
    finds: [
      client({ redirectUris: ['http://shop.example/callback'] }),
      client({ rootUrl: 'http://shop.example', redirectUris: ['/callback'] }),
    ],
    not: [
      client({
        redirectUris: [
          'http://localhost:3000/',
          'http://127.0.0.1/',
          'http://[::1]:8080/',
          'https://shop.example/',
          'com.acme:/',
        ],
      }),
    ],
  },
  'any-origin': {
    finds: [client({ webOrigins: ['*'] })],
    not: [client({ webOrigins: ['+', 'https://shop.example'] })],
  },
  'implicit-flow': { finds: [client({ implicitFlowEnabled: true })], not: [client({})] },
  'password-grant': { finds: [client({ directAccessGrantsEnabled: true })], not: [client({})] },
  'no-pkce': {
    finds: [client({ publicClient: true }), client({ ...pkce, attributes: { 'pkce.code.challenge.method': 'plain' } })],
    not: [client(pkce), client({}), client({ publicClient: true, standardFlowEnabled: false })],
  },
  'long-client-tokens': {
    finds: [client({ attributes: { 'access.token.lifespan': '86400' } })],
    not: [client({ attributes: { 'access.token.lifespan': '3600' } })],
  },
  'no-tls': { finds: [{ sslRequired: 'none' }], not: [{ sslRequired: 'external' }, { enabled: true }] },
  'no-brute-force-protection': { finds: [{ enabled: true }], not: [{ bruteForceProtected: true }, client({})] },
  'weak-passwords': {
    finds: [{ enabled: true }, { passwordPolicy: 'length(6) and digits(1)' }, { passwordPolicy: 'maxLength(64)' }],
    not: [{ passwordPolicy: 'digits(1) and length(12)' }],
  },
  'unverified-registration': {
    finds: [{ registrationAllowed: true }],
    not: [{ registrationAllowed: true, verifyEmail: true }, { enabled: true }],
  },
  'long-tokens': { finds: [{ accessTokenLifespan: 7200 }], not: [{ accessTokenLifespan: 300 }, { enabled: true }] },
  'reusable-refresh-tokens': {
    finds: [{ enabled: true, ...client(pkce) }],
    not: [
      { enabled: true, revokeRefreshToken: true, ...client(pkce) },
      { enabled: true, ...client({ ...pkce, attributes: { ...pkce.attributes, 'dpop.bound.access.tokens': 'true' } }) },
      { enabled: true, ...client({}) },
    ],
  },
  'plain-mail': {
    finds: [{ smtpServer: mail }],
    not: [{ smtpServer: { ...mail, starttls: 'true' } }, { smtpServer: { ...mail, host: 'localhost' } }],
  },
  'plain-provider': {
    finds: [provider('oidc', { tokenUrl: 'http://partner.example/token' })],
    not: [provider('oidc', { tokenUrl: 'https://partner.example/token' })],
  },
  'unsigned-saml': {
    finds: [provider('saml', {})],
    not: [provider('saml', { validateSignature: 'true' }), provider('oidc', {})],
  },
  'plain-ldap': {
    finds: [store({ connectionUrl: ['ldap://ldap.example'] })],
    not: [
      store({ connectionUrl: ['ldaps://ldap.example'] }),
      store({ connectionUrl: ['ldap://ldap.example'], startTls: ['true'] }),
    ],
  },
}

test('every rule finds what it is about, and not what is done well; no finding tells a secret', () => {
  expect(Object.keys(cases)).toEqual(Object.keys(lintRules))
  for (const [rule, { finds, not }] of Object.entries(cases)) {
    for (const stated of finds)
      expect(
        inRealm(stated).map((one) => one.rule),
        JSON.stringify(stated),
      ).toContain(rule)
    for (const stated of not)
      expect(
        inRealm(stated).map((one) => one.rule),
        JSON.stringify(stated),
      ).not.toContain(rule)
    expect(JSON.stringify(finds.map(inRealm))).not.toContain('hunter2')
  }
})

test('a finding stands at the value that it is about, in a resource of its own too', () => {
  const text = `apiVersion: regent.dev/v1alpha1
kind: RealmClient
metadata: { name: shop }
spec:
  realmRef: { name: acme }
  redirectUris:
    - https://shop.example/callback
    - https://shop.example/*
  secret: hunter2
`
  expect(found(text).map(({ rule, position: { line, column } }) => [rule, line, column])).toEqual([
    ['plain-secret', 9, 3],
    ['wildcard-redirect', 8, 7],
  ])
})

test('what a comment says is meant is no finding: behind the field, behind the object, or on a line above', () => {
  const text = `realm: acme
clients:
  - clientId: a
    # regent-lint: allow password-grant
    directAccessGrantsEnabled: true
  - clientId: b
    directAccessGrantsEnabled: true # regent-lint: allow any-origin, password-grant
  # regent-lint: allow no-pkce
  - clientId: c
    publicClient: true
    directAccessGrantsEnabled: true
  - clientId: d # not regent-lint: allow password-grant
    directAccessGrantsEnabled: true
`
  expect(found(text).map(({ rule, key }) => [rule, key[0]])).toEqual([
    ['password-grant', 'c'],
    ['password-grant', 'd'],
  ])
})

test('clients that every realm has are not complained of', () => {
  const builtIn = { clientId: 'admin-cli', publicClient: true, directAccessGrantsEnabled: true }
  expect(inRealm({ clients: [builtIn] })).toEqual([])
})

test('what several documents say of a client counts together', () => {
  const text = `realm: acme
clients: [{ clientId: shop, publicClient: true }]
---
realm: acme
clients: [{ clientId: shop, attributes: { pkce.code.challenge.method: S256 } }]
`
  expect(found(text)).toEqual([])
})

test('findings stand under a plan and an apply, also where variables came apart from the texts; a settled realm has none', async () => {
  const text = `realm: ${realm}
clients:
  - clientId: shop
    secret: $(env:SECRET)
    redirectUris: ['https://shop.example/*']
  - clientId: other
    secret: hunter2
`
  const options = { env, readFile: () => '', isAllowed: () => true }
  const values = listVariableValues(parseDocuments('a.yaml', text).map((one) => substituteVariables(one, options)))
  const state = deserializeSource({ name: 'a', revision: '1', files: [{ file: 'a.yaml', text, values }] })
  const planned = await planSources(service, SYSTEM, [state])
  expect(planned.realms[0]!.findings!.map(({ rule, position }) => [rule, position.line])).toEqual([
    ['wildcard-redirect', 5],
    ['plain-secret', 7],
  ])
  expect(renderOutcome(planned, 'planned', withoutColors)).toContain(
    '  lint: client shop: the redirect URI https://shop.example/* has a wildcard: declare each redirect URI in full (wildcard-redirect)  a.yaml:5:20\n',
  )
  const applied = await applySources(service, SYSTEM, [state])
  expect(applied.realms[0]!.findings).toEqual(planned.realms[0]!.findings)
  expect((await planSources(service, SYSTEM, [state])).realms[0]!.findings).toEqual([])
})

test('of a rule that finds much, a plan shows some and how many more', async () => {
  const clients = Array.from({ length: 40 }, (_, at) => ({ clientId: `c${at}`, webOrigins: ['*'] }))
  const planned = await planSources(service, SYSTEM, [createSource([{ realm, clients }])])
  const text = renderOutcome(planned, 'planned', withoutColors)
  expect(text.match(/\(any-origin\)/g)).toHaveLength(11)
  expect(text).toContain('lint: and 30 more: "regent lint" lists them (any-origin)')
})
