// Identity providers and their mappers in documents: a mapper stands in a list of the realm and names its provider.
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import {
  apply,
  exportDocument,
  plan,
  realm,
  service,
  switchRealm,
  useNewRealmPerTest,
} from '../support/realm-documents.ts'
import { newName } from '../support/service.ts'
import { ANN, createSource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const provider = (more: object = {}) => ({
  alias: 'op',
  providerId: 'oidc',
  displayName: 'The OP',
  firstBrokerLoginFlowAlias: 'first broker login',
  config: { clientId: 'regent', clientSecret: 'hush', tokenUrl: 'https://op.example.org/token' },
  ...more,
})
const mapper = (more: object = {}) => ({
  name: 'unit',
  identityProviderAlias: 'op',
  identityProviderMapper: 'oidc-user-attribute-idp-mapper',
  config: { claim: 'unit', 'user.attribute': 'unit' },
  ...more,
})
const document = (more: object = {}) => ({
  identityProviderMappers: [mapper(), mapper({ identityProviderAlias: 'other' })],
  identityProviders: [provider(), provider({ alias: 'other', config: {} })],
  ...more,
})

test('apply, then plan, is empty; an export shows mappers with their providers, secrets masked, and plans to nothing', async () => {
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
  const shown = await exportDocument()
  expect(shown).toMatchObject({
    identityProviders: [{ alias: 'op', config: { clientSecret: '**********' } }, { alias: 'other' }],
    identityProviderMappers: [
      { name: 'unit', identityProviderAlias: 'op' },
      { name: 'unit', identityProviderAlias: 'other' },
    ],
  })
  expect(await plan(shown)).toContain('Nothing to do.')
})

test('an export with ids and secrets makes the same providers in another realm', async () => {
  await apply(document())
  const shown = await exportDocument({ secrets: true, ids: true })
  const ids = (shown.identityProviders as { internalId: string }[]).map(({ internalId }) => internalId)
  await switchRealm()
  const { identityProviders, identityProviderMappers } = shown
  await apply({ identityProviders, identityProviderMappers })
  expect(await exportDocument({ secrets: true, ids: true })).toMatchObject({
    identityProviders,
    identityProviderMappers,
  })
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'identityProvider')).values()].map(({ id }) => id)).toEqual(
    ids,
  )
})

test('what an administrator changes is drift; a mapper and its provider that are stated no more are pruned', async () => {
  await apply(document())
  await updateObject(service, ANN, realm, 'identityProvider', ['op'], {
    displayName: 'Mine',
    'config.clientSecret': 'loud',
  })
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([{ path: 'displayName', live: 'Mine' }, {}])
  expect(await plan(document())).toMatch(/! identity provider op: config\.clientSecret was changed by ann/)
  expect(await plan({ identityProviders: [provider()], identityProviderMappers: [] })).toMatch(
    /- identity provider other\n.*- identity provider mapper unit of identity provider op\n/s,
  )
})

test('a mapper of a provider that is not there is refused where it names it, and one that names none where it stands', async () => {
  const text = `realm: ${realm}
identityProviders:
  - alias: op
    providerId: oidc
identityProviderMappers:
  - name: unit
    identityProviderMapper: oidc-username-idp-mapper
    identityProviderAlias: opp
`
  await expect(planText(service, createSource([text]))).rejects.toThrow(
    'test-1.yaml:8:5: identity provider mapper unit of identity provider opp: identity provider opp does not exist. Did you mean op?',
  )
  await expect(
    planText(service, createSource([text.replace('identityProviderAlias: opp', 'config: {}')])),
  ).rejects.toThrow(
    'test-1.yaml:6:5: identity provider mapper unit needs an identity provider: add "identityProviderAlias: <alias>"',
  )
  await expect(planText(service, createSource([text.replace('Alias: opp', 'Alais: op')]))).rejects.toThrow(
    'did you mean identityProviderAlias?',
  )
})

test('types that Regent does not have are kept, and the plan says so', async () => {
  const odd = document({
    identityProviders: [provider({ providerId: 'badge', config: { tokenUrl: 'as the extension likes it' } })],
    identityProviderMappers: [mapper({ identityProviderMapper: 'badge-mapper' })],
  })
  const text = await plan(odd)
  expect(text).toContain(
    'identity provider op: Regent does not have the type of identity providers badge; users cannot log in through it',
  )
  expect(text).toContain('Regent does not have the type of identity provider mappers badge-mapper')
  await apply(odd)
  expect(await plan(odd)).toContain('Nothing to do.')
})

test('a flow that a provider names can be renamed; deleted, the provider loses it and the plan gives it back', async () => {
  const flow = (alias: string) => ({ authenticationFlows: [{ alias, topLevel: true, authenticationExecutions: [] }] })
  const named = { identityProviders: [provider({ postBrokerLoginFlowAlias: 'after' })] }
  await apply({ ...named, ...flow('after') })
  await updateObject(service, ANN, realm, 'authenticationFlow', ['after'], { alias: 'afterwards' })
  const then = await getLiveObject(service, SYSTEM, realm, 'identityProvider', 'op')
  expect(then.representation.postBrokerLoginFlowAlias).toBe('afterwards')
  await apply({ ...named, ...flow('after') })
  await deleteObject(service, ANN, realm, 'authenticationFlow', 'after')
  const left = await getLiveObject(service, SYSTEM, realm, 'identityProvider', 'op')
  expect(left.representation.postBrokerLoginFlowAlias).toBeUndefined()
  expect(await plan({ ...named, ...flow('after') })).toMatch(/postBrokerLoginFlowAlias: none → after[^\n]*corrects/)
})

test('settings that cannot be are refused with the place of the provider, in the words of the reference server', async () => {
  const wrong = { identityProviders: [provider({ config: { tokenUrl: 'nonsense' } })] }
  await expect(apply(wrong)).rejects.toMatchObject({
    message: 'The url [token_url] is malformed',
    action: { position: { line: 3, column: 5 } },
  })
  const claim = { issuer: 'https://op.example.org', jwksUrl: 'https://op.example.org/keys', useJwksUrl: 'true' }
  const twice = ['a', 'b'].map((alias) => provider({ alias, config: { ...claim, supportsClientAssertions: 'true' } }))
  await expect(apply({ identityProviders: twice })).rejects.toThrow("Issuer URL already used for IDP 'a'")
})

test('whether a provider is offered at log-in is read in its earlier form, and shown where it stands', async () => {
  const named = { identityProviders: [provider({ config: { hideOnLoginPage: true } })] }
  expect(await plan(named)).toMatch(/hideOnLogin: true {2}realm-\S+-1\.yaml:8:7/)
  await apply(named)
  expect(await plan(named)).toContain('Nothing to do.')
  const { representation } = await getLiveObject(service, SYSTEM, realm, 'identityProvider', 'op')
  expect(representation).toMatchObject({ hideOnLogin: true })
  expect(representation.config).toBeUndefined()
})

const shared = new URL('../../../shared/data/realms/', import.meta.url)

test.skipIf(!existsSync(shared)).each(['acme-apps.yaml', 'moped.json'])('%s keeps its providers', async (name) => {
  // Addresses stand in variables; their defaults would not do for a realm that demands HTTPS.
  const text = readFileSync(new URL(name, shared), 'utf8')
    .replaceAll(/\$\(env:\w+_URL(:-[^)]*)?\)/g, 'https://id.example.org')
    .replaceAll(/\$\(env:\w+(:-[^)]*)?\)/g, 'hush')
  const [read] = createSource([text]).documents
  const { identityProviders } = read!.value as { identityProviders: { alias: string; config: object }[] }
  await switchRealm(newName())
  await apply({ realm, identityProviders })
  expect(await plan({ realm, identityProviders })).toContain('Nothing to do.')
  const live = await listLiveObjects(service, SYSTEM, realm, 'identityProvider')
  expect([...live.keys()].sort()).toEqual(identityProviders.map(({ alias }) => alias).sort())
})
