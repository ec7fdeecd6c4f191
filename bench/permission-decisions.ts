// Measures decisions about access to one of many resources, compared with the same statements alone.

import { handleTokenRequest, issueTokens } from '../src/oidc/endpoints/token-endpoint.ts'
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'
import { applySources } from '../src/reconcile/run/run.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import {
  AUTHORIZATION_SIZE,
  createProtectedClient,
  DECIDED_PERMISSION,
  decisionForm,
} from './authorization-settings.ts'
import type { Bench, Case, Statement } from './measure.ts'

const BASE = 'https://id.example.com'
const REALM = 'decisions'
const ADDRESS = '127.0.0.1'
const application = { client_id: 'application', client_secret: 'application-secret' }
/** Decisions in a round, where they find the settings in memory. */
const REQUESTS = 40

/** Creates a realm, and returns the cases: with empty caches, as after a change of the realm, and with the settings in memory. */
export async function decisionCases(bench: Bench): Promise<Case[]> {
  const { service } = bench
  const documents = parseDocuments(`${REALM}.json`, JSON.stringify(realm))
  await applySources(service, SYSTEM, [{ name: REALM, revision: '1', documents, files: [] }])
  const endpoint = { service, base: BASE, realmName: REALM }
  const login = { ...application, grant_type: 'client_credentials' }
  const { access_token: token } = await issueTokens(endpoint, { form: login, address: ADDRESS })
  const authorization = `Bearer ${token}`
  const request = { form: decisionForm, permissions: [DECIDED_PERMISSION], authorization, address: ADDRESS }
  const decide = () => handleTokenRequest(endpoint, request)
  const forget = () => service.cache.forget({})
  const record = async (): Promise<Statement[]> => {
    const statements = await bench.recordStatements(decide)
    return statements.map(({ sql, parameters }) => [sql, parameters])
  }
  await decide()
  const warm = await record()
  forget()
  const cold = await record()
  const size = AUTHORIZATION_SIZE.resources
  return [
    {
      name: 'decide after a change',
      ...{ size, rounds: 60, seconds: 6 },
      baseline: () => () => bench.runStatements(cold),
      operation: () => {
        forget()
        return decide
      },
    },
    {
      name: 'decide',
      ...{ size, rounds: 30, seconds: 4, repetitions: REQUESTS },
      baseline: () => () => repeat(() => bench.runStatements(warm)),
      operation: () => () => repeat(decide),
    },
  ]
}

async function repeat(work: () => Promise<unknown>): Promise<void> {
  for (let sent = 0; sent < REQUESTS; sent++) await work()
}

const realm = {
  realm: REALM,
  enabled: true,
  roles: { realm: [{ name: 'reader' }, { name: 'writer' }] },
  clients: [
    {
      clientId: application.client_id,
      secret: application.client_secret,
      serviceAccountsEnabled: true,
    },
    createProtectedClient({ client: application.client_id, roles: ['reader', 'writer'] }),
  ],
}
