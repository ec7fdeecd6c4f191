// Identity providers and their mappers in documents: mappers are a list of the realm, and each names its provider.
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { deleteObject, getLiveObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import {
  apply,
  exportDocument,
  plan,
  realm,
  service,
  switchRealm,
  toRealmSource,
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

test('after an apply, the plans of the document and of an export are empty; the export masks secrets', async () => {
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
  const exportedRealm = await exportDocument()
  expect(exportedRealm).toMatchObject({
    identityProviders: [{ alias: 'op', config: { clientSecret: '**********' } }, { alias: 'other' }],
    identityProviderMappers: [
      { name: 'unit', identityProviderAlias: 'op' },
      { name: 'unit', identityProviderAlias: 'other' },
    ],
  })
  expect(await plan(exportedRealm)).toContain('Nothing to do.')
})

test('an export with ids and secrets recreates the providers in another realm, with the same ids', async () => {
  await apply(document())
  const exportedRealm = await exportDocument({ secrets: true, ids: true })
  const ids = (exportedRealm.identityProviders as { internalId: string }[]).map(({ internalId }) => internalId)
  await switchRealm()
  const { identityProviders, identityProviderMappers } = exportedRealm
  await apply({ identityProviders, identityProviderMappers })
  expect(await exportDocument({ secrets: true, ids: true })).toMatchObject({
    identityProviders,
    identityProviderMappers,
  })
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'identityProvider')).values()].map(({ id }) => id)).toEqual(
    ids,
  )
})

test('changes by an administrator are drift; a provider and a mapper that are removed from the source are deleted', async () => {
  await apply(document())
  await updateObject(service, ANN, realm, 'identityProvider', ['op'], {
    displayName: 'Mine',
    'config.clientSecret': 'loud',
  })
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([{ path: 'displayName', live: 'Mine' }, {}])
  expect(await plan(document())).toMatch(/! identity provider op: config\.clientSecret was changed by ann/)
  expect(await plan({ identityProviders: [provider()], identityProviderMappers: [] })).toMatch(
    /- identity provider other .*\n.*- identity provider mapper unit of identity provider op .*\n/s,
  )
})

test('a mapper with an unknown provider is refused at that reference, and a mapper without a provider at its own position', async () => {
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

test('unknown types of providers and mappers are stored, and the plan notes them', async () => {
  const unknownTypes = document({
    identityProviders: [provider({ providerId: 'badge', config: { tokenUrl: 'as the extension likes it' } })],
    identityProviderMappers: [mapper({ identityProviderMapper: 'badge-mapper' })],
  })
  const text = await plan(unknownTypes)
  expect(text).toContain(
    'identity provider op: Regent does not have the identity provider type badge; users cannot log in through identity providers',
  )
  expect(text).toContain(
    'identity provider mapper unit of identity provider op is stored only; users cannot log in through identity providers',
  )
  await apply(unknownTypes)
  expect(await plan(unknownTypes)).toContain('Nothing to do.')
})

test('renaming a flow updates its provider; deleting it removes the reference, which the next plan restores', async () => {
  const flow = (alias: string) => ({ authenticationFlows: [{ alias, topLevel: true, authenticationExecutions: [] }] })
  const withFlow = { identityProviders: [provider({ postBrokerLoginFlowAlias: 'after' })] }
  await apply({ ...withFlow, ...flow('after') })
  await updateObject(service, ANN, realm, 'authenticationFlow', ['after'], { alias: 'afterwards' })
  const renamed = await getLiveObject(service, SYSTEM, realm, 'identityProvider', 'op')
  expect(renamed.representation.postBrokerLoginFlowAlias).toBe('afterwards')
  await apply({ ...withFlow, ...flow('after') })
  await deleteObject(service, ANN, realm, 'authenticationFlow', 'after')
  const withoutFlow = await getLiveObject(service, SYSTEM, realm, 'identityProvider', 'op')
  expect(withoutFlow.representation.postBrokerLoginFlowAlias).toBeUndefined()
  expect(await plan({ ...withFlow, ...flow('after') })).toMatch(/postBrokerLoginFlowAlias: none → after[^\n]*corrects/)
})

test('invalid settings are refused at the position of the provider, with Keycloak’s message', async () => {
  const invalid = { identityProviders: [provider({ config: { tokenUrl: 'nonsense' } })] }
  await expect(apply(invalid)).rejects.toMatchObject({
    message: 'The url [token_url] is malformed',
    action: { position: { line: 3, column: 5 } },
  })
  const assertionConfig = {
    issuer: 'https://op.example.org',
    jwksUrl: 'https://op.example.org/keys',
    useJwksUrl: 'true',
  }
  const providers = ['a', 'b'].map((alias) =>
    provider({ alias, config: { ...assertionConfig, supportsClientAssertions: 'true' } }),
  )
  await expect(apply({ identityProviders: providers })).rejects.toThrow("Issuer URL already used for IDP 'a'")
})

test('the former setting hideOnLoginPage is applied as hideOnLogin, and the plan shows its position', async () => {
  const declared = { identityProviders: [provider({ config: { hideOnLoginPage: true } })] }
  const verbose = renderOutcome(await planSources(service, SYSTEM, [toRealmSource(declared)]), 'planned', {
    isVerbose: true,
  })
  expect(verbose).toMatch(/hideOnLogin: +true {2}realm-\S+-1\.yaml:8:7/)
  await apply(declared)
  expect(await plan(declared)).toContain('Nothing to do.')
  const { representation } = await getLiveObject(service, SYSTEM, realm, 'identityProvider', 'op')
  expect(representation).toMatchObject({ hideOnLogin: true })
  expect(representation.config).toBeUndefined()
})

const shared = new URL('../../../shared/data/realms/', import.meta.url)

test.skipIf(!existsSync(shared)).each(['acme-apps.yaml', 'moped.json'])(
  'the providers of %s are applied, and the next plan is empty',
  async (name) => {
    // The defaults of the address variables are not valid, since the realm requires HTTPS.
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
  },
)
