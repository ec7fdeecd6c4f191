// Client policies at clients in documents: refused ones are reported with their position, and values that are not declared are set.
import { expect, test } from 'vitest'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { globalProfileSettings, policySettings } from '../support/policed-realm.ts'
import { apply, getLive, plan, realm, service, useNewRealmPerTest } from '../support/realm-documents.ts'
import { createSource, planText } from '../support/sources.ts'

useNewRealmPerTest()

/** Returns the failures of a plan, with their positions. */
async function listFailures(planning: Promise<string>): Promise<string[]> {
  const error: unknown = await planning.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ActionError)) throw error
  return error.problems.map(({ position: { line, column }, message }) => `${line}:${column} ${message}`)
}

const refusal = (executor: string, problem: string, field: string) =>
  `client policy "rules", profile "strict", executor ${executor}: ${problem}. Change ${field}, or the policy; nothing was changed`

test('a plan refuses clients that break rules, at the line of the field, and an apply changes nothing', async () => {
  const policies = policySettings([['secure-client-uris']])
  await apply(policies)
  const text = `
realm: ${realm}
clients:
  - clientId: web
    rootUrl: http://a.example
  - clientId: api
  - clientId: app
    redirectUris:
      - https://app.example/*`
  expect(await listFailures(planText(service, createSource([text])))).toEqual([
    `5:5 create client web: ${refusal('secure-client-uris', 'Invalid rootUrl', 'rootUrl')}`,
    `8:5 create client app: ${refusal('secure-client-uris', 'Invalid redirectUris', 'redirectUris')}`,
  ])
  await expect(apply({ ...policies, clients: [{ clientId: 'web', rootUrl: 'http://a.example' }] })).rejects.toThrow(
    'rootUrl',
  )
  await expect(getLive('client', 'web')).rejects.toThrow()
})

test('a policy binds the clients of the same document, and not those that do not change', async () => {
  const web = { clientId: 'web', rootUrl: 'http://a.example' }
  await apply({ clients: [web] })
  const policies = policySettings([['secure-client-uris']])
  const withB = { ...policies, clients: [web, { clientId: 'b', rootUrl: 'http://b.example' }] }
  expect(await listFailures(plan(withB))).toEqual([expect.stringContaining('create client b')])
  await apply({ ...policies, clients: [web] })
  const changed = { ...policies, clients: [{ ...web, name: 'Web' }] }
  expect(await listFailures(plan(changed))).toEqual([expect.stringContaining('update client web')])
})

test('a value that is not declared is set, and the next plan is empty; a declared one that differs is refused', async () => {
  const policies = policySettings([['pkce-enforcer', { 'auto-configure': true }]])
  const document = { ...policies, clients: [{ clientId: 'web' }] }
  expect(await plan(document)).toContain(
    'note: client web: the client policy rules sets attributes.pkce.code.challenge.method to "S256"',
  )
  await apply(document)
  expect((await getLive('client', 'web')).representation.attributes).toMatchObject({
    'pkce.code.challenge.method': 'S256',
  })
  expect(await plan(document)).toContain('Nothing to do.')
  const plain = { attributes: { 'pkce.code.challenge.method': 'plain' } }
  const problem = refusal(
    'pkce-enforcer',
    'Invalid client metadata: code_challenge_method',
    'attributes.pkce.code.challenge.method',
  )
  for (const [operation, clientId] of [
    ['create', 'b'],
    ['update', 'web'],
  ])
    expect(await listFailures(plan({ ...policies, clients: [{ clientId: clientId!, ...plain }] }))).toEqual([
      expect.stringContaining(`${operation} client ${clientId}: ${problem}`),
    ])
})

test('the built-in clients of a realm are exempt, which its sources may declare', async () => {
  const account = { clientId: 'account', name: 'Account' }
  await apply({ ...globalProfileSettings('fapi-2-security-profile'), clients: [account] })
  expect((await getLive('client', 'account')).representation.name).toBe('Account')
})
