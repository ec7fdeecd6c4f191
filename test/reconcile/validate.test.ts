// `validate` finds on a new store what the plan of a realm finds, at the same places.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DocumentError } from '../../src/realm-file/yaml/problem.ts'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { readDesiredRealms } from '../../src/reconcile/merge/desired-realm.ts'
import type { SourceContent } from '../../src/reconcile/read/source-content.ts'
import { planSources, type RunOutcome, validateSource } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { openNewService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

let live: Service
let empty: Service
beforeAll(async () => {
  live = await openNewService()
  await bootstrap(live)
  empty = await openService({
    location: {},
    key: randomBytes(32),
    passwordBlacklists: { has: () => true, contains: async () => false },
  })
  await bootstrap(empty)
}, 60_000)
afterAll(async () => {
  await live.close()
  await empty.close()
})

/** Validates a source as the command does. */
async function validate(source: SourceContent): Promise<RunOutcome> {
  return validateSource(empty, source, { realms: readDesiredRealms(source.documents, { vault: empty.vault }) })
}

const plan = (source: SourceContent): Promise<RunOutcome> => planSources(live, SYSTEM, [source])

/** Returns the problems that a run reports, as `line:column message`; none if it succeeds. */
async function listProblems(run: () => Promise<RunOutcome>): Promise<string[]> {
  const error: unknown = await run().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error === undefined) return []
  if (!(error instanceof DocumentError || error instanceof ActionError)) throw error
  return error.problems.map(
    // A new realm is created, an existing one is updated.
    ({ position: { line, column }, message }) =>
      `${line}:${column} ${message.replace(/^(create|update) realm/, 'realm')}`,
  )
}

/** Files with one mistake each: the claim, the lines below `realm:`, and a part of the message. */
const mistakes: readonly [mistake: string, lines: string, message: string][] = [
  ['an unknown field', 'displayNam: Shop', 'displayNam'],
  ['a value of another type', 'accessTokenLifespan: long', 'accessTokenLifespan'],
  ['a choice that does not exist', 'sslRequired: sometimes', 'sslRequired'],
  ['a number out of range', 'failureFactor: -1', 'negative'],
  ['an unknown password policy', 'passwordPolicy: lenght(8)', 'Did you mean length?'],
  ['a wrong value of a password policy', 'passwordPolicy: digits(many)', 'Not a valid number'],
  ['a mail server without a sender', 'smtpServer: { host: mail.example }', 'smtpServer.from is missing'],
  ['a sender that is no address', 'smtpServer: { host: mail.example, from: nobody }', "'nobody'"],
  ['an attribute that is no number', 'attributes: { parRequestUriLifespan: long }', 'number of seconds'],
  ['a header that HTTP does not allow', 'browserSecurityHeaders: { xFrameOptions: "é" }', 'header value'],
  ['a client profile twice', 'clientProfiles: { profiles: [{ name: p }, { name: p }] }', 'duplicated'],
  [
    'a client policy with an unknown profile',
    'clientPolicies: { policies: [{ name: p, profiles: [x] }] }',
    'profile x',
  ],
  ['an unknown flow', 'browserFlow: nothing', 'authentication flow nothing'],
  ['an unknown default group', 'defaultGroups: [/nothing]', 'group /nothing'],
  ['an unknown default client scope', 'defaultDefaultClientScopes: [nothing]', 'client scope nothing'],
  ['a client twice', 'clients: [{ clientId: a }, { clientId: a }]', 'client a'],
  ['a client without a name', 'clients: [{ name: A }]', 'clientId'],
  ['an unknown client scope', 'clients: [{ clientId: a, defaultClientScopes: [profil] }]', 'Did you mean profile?'],
  ['a redirect URI that is none', 'clients: [{ clientId: a, redirectUris: ["http://a b"] }]', 'redirect URI'],
  ['a fragment in a redirect URI', 'clients: [{ clientId: a, redirectUris: ["https://a/#b"] }]', 'fragment'],
  ['a root URL that runs a script', 'clients: [{ clientId: a, rootUrl: "javascript:x" }]', 'illegal scheme'],
  ['an unknown protocol', 'clients: [{ clientId: a, protocol: smtp }]', 'protocol'],
  [
    'a public client with authorization services',
    'clients: [{ clientId: a, publicClient: true, authorizationServicesEnabled: true }]',
    'confidential',
  ],
  [
    'a client session that outlasts that of the realm',
    'ssoSessionIdleTimeout: 600\nclients: [{ clientId: a, attributes: { client.session.idle.timeout: "601" } }]',
    'cannot exceed realm SSO session idle timeout',
  ],
  [
    'a scope in two lists',
    'clients: [{ clientId: a, defaultClientScopes: [email], optionalClientScopes: [email] }]',
    'optionalClientScopes',
  ],
  ['a client scope of an unknown protocol', 'clientScopes: [{ name: a, protocol: smtp }]', 'protocol'],
  [
    'an unknown role in a composite',
    'roles: { realm: [{ name: a, composites: { realm: [nothing] } }] }',
    'role nothing',
  ],
  ['roles of an unknown client', 'roles: { client: { nothing: [{ name: a }] } }', 'client nothing'],
  ['an unknown role of a group', 'groups: [{ name: a, realmRoles: [nothing] }]', 'role nothing'],
  ['an unknown role of a user', 'users: [{ username: a, realmRoles: [nothing] }]', 'role nothing'],
  ['an unknown group of a user', 'users: [{ username: a, groups: [/nothing] }]', 'group /nothing'],
  ['a user twice', 'users: [{ username: a }, { username: A }]', 'user a'],
  [
    'a password that the policy refuses',
    'passwordPolicy: length(12)\nusers: [{ username: a, credentials: [{ type: password, value: short }] }]',
    'minimum length 12',
  ],
  [
    'an unknown step of a flow',
    'authenticationFlows: [{ alias: a, providerId: basic-flow, topLevel: true, authenticationExecutions: [{ flowAlias: nothing, requirement: REQUIRED, authenticatorFlow: true }] }]',
    'nothing',
  ],
  [
    'a requirement that does not exist',
    'authenticationFlows: [{ alias: a, providerId: basic-flow, topLevel: true, authenticationExecutions: [{ authenticator: auth-cookie, requirement: SOMETIMES }] }]',
    'requirement',
  ],
  [
    'an LDAP provider without its mandatory settings',
    'components: { org.keycloak.storage.UserStorageProvider: [{ name: a, providerId: ldap, config: { vendor: [other] } }] }',
    'mandatory',
  ],
  [
    'an identity provider without encryption',
    'sslRequired: all\nidentityProviders: [{ alias: a, providerId: oidc, config: { authorizationUrl: "http://a.example", tokenUrl: "http://a.example", clientId: a } }]',
    'secure',
  ],
  [
    'a mapper of an unknown identity provider',
    'identityProviderMappers: [{ name: a, identityProviderAlias: nothing, identityProviderMapper: hardcoded-user-session-attribute-idp-mapper }]',
    'nothing',
  ],
  ['a boolean in words', 'internationalizationEnabled: yes please', 'internationalizationEnabled'],
]

test.each(mistakes)(
  'validate and plan report %s at the same place with the same message',
  async (mistake, lines, message) => {
    const index = mistakes.findIndex(([other]) => other === mistake)
    const source = createSource([`realm: wrong-${index}\n${lines}\n`])
    const problems = await listProblems(() => validate(source))
    expect(problems.join('\n')).toContain(message)
    expect(await listProblems(() => plan(source)), 'a new realm').toEqual(problems)
    await live.createRealm(SYSTEM, { representation: { realm: `wrong-${index}` } }, async () => {})
    expect(await listProblems(() => plan(source)), 'an existing realm').toEqual(problems)
  },
)

describe('a plan alone reports what depends on live state', () => {
  test('whether another source declares a field differently', async () => {
    await applySource(live, createSource(['realm: shared\ndisplayName: A\n'], 'a'))
    const source = createSource(['realm: shared\ndisplayName: B\n'], 'b')
    expect(await listProblems(() => validate(source))).toEqual([])
    expect((await listProblems(() => plan(source))).join()).toContain('is declared differently by source a')
  })

  test('whether the email address of a declared user is taken', async () => {
    await applySource(live, createSource(['realm: taken\nusers: [{ username: a, email: a@a.example }]\n'], 'a'))
    const source = createSource(['realm: taken\nusers: [{ username: b, email: a@a.example }]\n'], 'b')
    expect(await listProblems(() => validate(source))).toEqual([])
    expect((await listProblems(() => plan(source))).join()).toContain('user b')
  })

  test('whether a password blacklist exists', async () => {
    const source = createSource(['realm: lists\npasswordPolicy: passwordBlacklist(none.txt)\n'])
    expect(await listProblems(() => validate(source))).toEqual([])
    expect((await listProblems(() => plan(source))).join()).toContain('There is no password blacklist')
  })

  const resource = (kind: string, name: string, spec: string) =>
    `apiVersion: regent.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`

  test('whether master has what documents refer to, which is noted', async () => {
    const source = createSource(['realm: master\nroles: { realm: [{ name: a, composites: { realm: [nothing] } }] }\n'])
    const { realms } = await validate(source)
    expect(realms[0]!.plan.notes).toMatchObject([
      {
        position: { line: 2, column: 51 },
        message:
          'role a: composites refers to role nothing, which is not declared here. Pass --server to check whether the live realm has it.',
      },
    ])
    expect((await listProblems(() => plan(source))).join()).toContain('refers to role nothing')
  })

  test('whether a realm that documents only refer to has what they refer to, which is noted', async () => {
    const source = createSource([
      resource('RealmClient', 'web', '{ realmRef: { name: platform }, defaultClientScopes: [email, nothing] }'),
    ])
    const { realms } = await validate(source)
    expect(realms[0]!.plan.notes.map(({ message }) => message)).toEqual([
      'client web: defaultClientScopes refers to client scope nothing, which is not declared here. Pass --server to check whether the live realm has it.',
    ])
    expect((await listProblems(() => plan(source))).join()).toContain('realm platform does not exist')
  })
})

test('a client of a realm that is not declared is checked in itself', async () => {
  const source = createSource([
    'apiVersion: regent.dev/v1alpha1\nkind: RealmClient\nmetadata: { name: web }\nspec: { realmRef: { name: tenant }, defaultClientScopes: [nothing], rootUrl: "javascript:x" }\n',
  ])
  expect((await listProblems(() => validate(source))).join()).toContain('client web: Root URL uses an illegal scheme')
})

test('master may refer to the client of a realm that is declared with it', async () => {
  const ops = 'roles: { realm: [{ name: ops, composites: { client: { zoo-realm: [view-realm] } } }] }'
  const { realms } = await validate(createSource([`realm: master\n${ops}\n`, 'realm: zoo\n']))
  expect(realms.flatMap(({ plan: { notes } }) => notes).filter(({ message }) => message.includes('--server'))).toEqual(
    [],
  )
})

test('the name of a realm is checked, also if nothing else is declared', async () => {
  const source = createSource(['realm: a/b\n'])
  expect(await listProblems(() => validate(source))).toEqual([
    "1:1 realm a/b: Character '/' not allowed. Nothing was changed.",
  ])
  expect(await listProblems(() => plan(source))).toEqual(await listProblems(() => validate(source)))
})
