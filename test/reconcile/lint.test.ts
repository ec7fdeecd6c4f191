// `regent lint`: findings of each rule, comments that allow findings, and findings of plans.
import { expect, test } from 'vitest'
import { effects } from '../../src/kinds/effects/index.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { unwrapResources } from '../../src/realm-file/resources/unwrap-resources.ts'
import { substituteVariables } from '../../src/realm-file/substitute-variables.ts'
import { parseDocuments } from '../../src/realm-file/yaml/parse-documents.ts'
import { findLintFindings, type LintFinding, lintRules } from '../../src/reconcile/lint/lint.ts'
import { readDesiredRealms } from '../../src/reconcile/merge/desired-realm.ts'
import { deserializeSource, listVariableValues } from '../../src/reconcile/read/source-text.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { openVault } from '../../src/service/context/vault.ts'
import { realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { createSource } from '../support/sources.ts'

useNewRealmPerTest()

const env = { SECRET: 'from outside' }

/** Returns the findings of a YAML or JSON text, which is read as by `regent lint`. */
function lint(text: string): LintFinding[] {
  const options = { env, readFile: () => '', isAllowed: () => true }
  const { documents } = unwrapResources(
    parseDocuments('a.yaml', text).map((document) => substituteVariables(document, options)),
  )
  return readDesiredRealms(documents, { vault: openVault(Buffer.alloc(32)) }).flatMap(({ name, objects }) =>
    findLintFindings(name, [...objects.values()]),
  )
}

const lintRealm = (fields: Representation) => lint(JSON.stringify({ realm: 'acme', ...fields }))
const client = (fields: Representation) => ({ clients: [{ clientId: 'shop', ...fields }] })
const provider = (providerId: string, config: Representation) => ({
  identityProviders: [{ alias: 'partner', providerId, config }],
})
const store = (config: Representation) => ({
  components: { 'org.keycloak.storage.UserStorageProvider': [{ name: 'staff', providerId: 'ldap', config }] },
})
const pkce = { publicClient: true, attributes: { 'pkce.code.challenge.method': 'S256' } }
const mail = { host: 'mail.example', from: 'a@acme.example' }

const cases: Record<string, { insecure: Representation[]; secure: Representation[] }> = {
  'plain-secret': {
    insecure: [
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
    secure: [
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
    insecure: [
      client({ redirectUris: ['*'] }),
      client({ redirectUris: ['https://shop.example/*'] }),
      client({ attributes: { 'post.logout.redirect.uris': 'https://shop.example/##https://shop.example/*' } }),
    ],
    secure: [
      client({ redirectUris: ['https://shop.example/callback'], attributes: { 'post.logout.redirect.uris': '+' } }),
    ],
  },
  'plain-redirect': {
    insecure: [
      client({ redirectUris: ['http://shop.example/callback'] }),
      client({ rootUrl: 'http://shop.example', redirectUris: ['/callback'] }),
    ],
    secure: [
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
    insecure: [client({ webOrigins: ['*'] })],
    secure: [client({ webOrigins: ['+', 'https://shop.example'] })],
  },
  'implicit-flow': { insecure: [client({ implicitFlowEnabled: true })], secure: [client({})] },
  'password-grant': { insecure: [client({ directAccessGrantsEnabled: true })], secure: [client({})] },
  'unused-secret': {
    insecure: [client({ ...pkce, secret: '$(env:SECRET)' })],
    secure: [client({ secret: '$(env:SECRET)' }), client(pkce)],
  },
  'no-pkce': {
    insecure: [
      client({ publicClient: true }),
      client({ ...pkce, attributes: { 'pkce.code.challenge.method': 'plain' } }),
    ],
    secure: [client(pkce), client({}), client({ publicClient: true, standardFlowEnabled: false })],
  },
  'long-client-tokens': {
    insecure: [client({ attributes: { 'access.token.lifespan': '86400' } })],
    secure: [client({ attributes: { 'access.token.lifespan': '3600' } })],
  },
  'no-tls': { insecure: [{ sslRequired: 'none' }], secure: [{ sslRequired: 'external' }, { enabled: true }] },
  'no-brute-force-protection': { insecure: [{ enabled: true }], secure: [{ bruteForceProtected: true }, client({})] },
  'weak-passwords': {
    insecure: [{ enabled: true }, { passwordPolicy: 'length(6) and digits(1)' }, { passwordPolicy: 'maxLength(64)' }],
    secure: [{ passwordPolicy: 'digits(1) and length(12)' }],
  },
  'unverified-registration': {
    insecure: [{ registrationAllowed: true }],
    secure: [{ registrationAllowed: true, verifyEmail: true }, { enabled: true }],
  },
  'long-tokens': {
    insecure: [{ accessTokenLifespan: 7200 }],
    secure: [{ accessTokenLifespan: 300 }, { enabled: true }],
  },
  'reusable-refresh-tokens': {
    insecure: [{ enabled: true, ...client(pkce) }],
    secure: [
      { enabled: true, revokeRefreshToken: true, ...client(pkce) },
      { enabled: true, ...client({ ...pkce, attributes: { ...pkce.attributes, 'dpop.bound.access.tokens': 'true' } }) },
      { enabled: true, ...client({}) },
    ],
  },
  'mail-without-server': {
    insecure: [{ resetPasswordAllowed: true }, { verifyEmail: true, smtpServer: { from: 'a@acme.example' } }],
    secure: [
      { resetPasswordAllowed: true, verifyEmail: true, smtpServer: { ...mail, host: 'localhost' } },
      { resetPasswordAllowed: false },
    ],
  },
  'plain-mail': {
    insecure: [{ smtpServer: mail }],
    secure: [{ smtpServer: { ...mail, starttls: 'true' } }, { smtpServer: { ...mail, host: 'localhost' } }],
  },
}

test('each rule finds its insecure cases and none of its secure ones, and no finding contains a secret', () => {
  expect(Object.keys(cases)).toEqual(Object.keys(lintRules))
  for (const [rule, { insecure, secure }] of Object.entries(cases)) {
    for (const fields of insecure)
      expect(
        lintRealm(fields).map(({ rule }) => rule),
        JSON.stringify(fields),
      ).toContain(rule)
    for (const fields of secure)
      expect(
        lintRealm(fields).map(({ rule }) => rule),
        JSON.stringify(fields),
      ).not.toContain(rule)
    expect(JSON.stringify(insecure.map(lintRealm))).not.toContain('hunter2')
  }
})

/** Returns the names of the fields of a kind that are not enforced, as messages contain them: words that are no English. */
function listUnenforcedNames(kind: KindName): string[] {
  return Object.entries(effects[kind])
    .filter(([, { effect }]) => effect !== 'enforced' && effect !== 'provider')
    .map(([path]) => path.replace(/^attributes\./, ''))
    .filter((name) => /[.A-Z]/.test(name))
}

test('no finding recommends a field that is not enforced', () => {
  const findings = Object.values(cases).flatMap(({ insecure }) => insecure.flatMap(lintRealm))
  expect(new Set(findings.map(({ rule }) => rule))).toEqual(new Set(Object.keys(lintRules)))
  const kindNames = [...new Set(findings.map(({ kind }) => kind))]
  const names = new Set(kindNames.flatMap(listUnenforcedNames))
  expect(names).toContain('implicitFlowEnabled')
  const recommended = findings.flatMap(({ message }) => message.split(/[\s:,()]+/).filter((word) => names.has(word)))
  expect(recommended).toEqual([])
})

test('a finding has the position of its value, also in a resource', () => {
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
  expect(lint(text).map(({ rule, position: { line, column } }) => [rule, line, column])).toEqual([
    ['plain-secret', 9, 3],
    ['wildcard-redirect', 8, 7],
  ])
})

test('a comment after a field or object, or on the line above, suppresses the findings that it allows', () => {
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
  expect(lint(text).map(({ rule, key }) => [rule, key[0]])).toEqual([
    ['password-grant', 'c'],
    ['password-grant', 'd'],
  ])
})

test('built-in clients have no findings', () => {
  const builtIn = { clientId: 'admin-cli', publicClient: true, directAccessGrantsEnabled: true }
  expect(lintRealm({ clients: [builtIn] })).toEqual([])
})

test('the declarations of a client in several documents are checked together', () => {
  const text = `realm: acme
clients: [{ clientId: shop, publicClient: true }]
---
realm: acme
clients: [{ clientId: shop, attributes: { pkce.code.challenge.method: S256 } }]
`
  expect(lint(text)).toEqual([])
})

test('plan and apply list findings, also if values of variables are sent separately; a plan without changes has none', async () => {
  const text = `realm: ${realm}
clients:
  - clientId: shop
    secret: $(env:SECRET)
    redirectUris: ['https://shop.example/*']
  - clientId: other
    secret: hunter2
`
  const options = { env, readFile: () => '', isAllowed: () => true }
  const values = listVariableValues(
    parseDocuments('a.yaml', text).map((document) => substituteVariables(document, options)),
  )
  const state = deserializeSource({ name: 'a', revision: '1', files: [{ file: 'a.yaml', text, values }] })
  const planned = await planSources(service, SYSTEM, [state])
  expect(planned.realms[0]!.findings!.map(({ rule, position }) => [rule, position.line])).toEqual([
    ['wildcard-redirect', 5],
    ['plain-secret', 7],
  ])
  expect(renderOutcome(planned, 'planned')).toContain('  lint: 2 findings; "regent lint" lists them\n')
  expect(renderOutcome(planned, 'planned', { isVerbose: true })).toContain(
    '  lint: client shop: the redirect URI https://shop.example/* has a wildcard: declare each redirect URI in full (wildcard-redirect)  a.yaml:5:20\n',
  )
  const applied = await applySources(service, SYSTEM, [state])
  expect(applied.realms[0]!.findings).toEqual(planned.realms[0]!.findings)
  expect((await planSources(service, SYSTEM, [state])).realms[0]!.findings).toEqual([])
})

test('a plan shows the first findings of a rule, and the number of the others', async () => {
  const clients = Array.from({ length: 40 }, (_, at) => ({ clientId: `c${at}`, webOrigins: ['*'] }))
  const planned = await planSources(service, SYSTEM, [createSource([{ realm, clients }])])
  const text = renderOutcome(planned, 'planned', { isVerbose: true })
  expect(text.match(/\(any-origin\)/g)).toHaveLength(11)
  expect(text).toContain('lint: and 30 more: "regent lint" lists them (any-origin)')
})
