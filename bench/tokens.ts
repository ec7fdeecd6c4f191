// Measures the token endpoint, compared with signing the same tokens, and reads while passwords are checked.
import { availableParallelism } from 'node:os'
import { generateKeyPair, SignJWT } from 'jose'
import { issueTokens } from '../src/oidc/endpoints/token-endpoint.ts'
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'
import { applySources } from '../src/reconcile/run/run.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import type { ClientReads } from './client-reads.ts'
import type { Bench, Case } from './measure.ts'

const REALM = 'measured-tokens'
const BASE = 'https://id.example.com'
/** The client address of requests: realms do not require HTTPS from this machine. */
const ADDRESS = '127.0.0.1'
const PASSWORD = 'a-password'
/** Requests in a round. */
const REQUESTS = 40
/** Concurrent requests: more than most machines have cores. */
const CONCURRENCY = 8
/** Concurrent logins: four for each password that the server checks concurrently keep it busy, more would only wait. */
const CONCURRENT_LOGINS = 4 * Math.max(1, availableParallelism() - 1)

const client = { client_id: 'service', client_secret: 'service-secret' }
const login = { ...client, grant_type: 'password', username: 'ann', password: PASSWORD }

/** Creates a realm and returns the cases. */
export async function tokenCases(bench: Bench): Promise<Case[]> {
  await applySources(bench.service, SYSTEM, [
    {
      name: REALM,
      revision: '1',
      documents: parseDocuments(`${REALM}.json`, JSON.stringify(realm)),
      files: [],
    },
  ])
  const request = (form: Record<string, string>) =>
    issueTokens({ service: bench.service, base: BASE, realmName: REALM }, { form, address: ADDRESS })
  const { refresh_token: refreshToken } = await request(login)
  const credentials = { ...client, grant_type: 'client_credentials' }
  const refresh = { ...client, grant_type: 'refresh_token', refresh_token: String(refreshToken) }
  const signers = await createSigners()
  // The first requests fill the server's caches.
  for (const form of [credentials, refresh]) await request(form)
  const createCase = (
    name: string,
    form: Record<string, string>,
    { baseline, concurrency = 1 }: { baseline: () => Promise<unknown>; concurrency?: number },
  ): Case => ({
    name,
    rounds: 30,
    seconds: 4,
    repetitions: REQUESTS,
    baseline: () => repeat(baseline, concurrency),
    operation: () => repeat(() => request(form), concurrency),
  })
  return [
    createCase('client credentials', credentials, { baseline: signers.access }),
    createCase(`client credentials, ${CONCURRENCY} concurrent`, credentials, {
      baseline: signers.access,
      concurrency: CONCURRENCY,
    }),
    createCase('refresh', refresh, { baseline: signers.both }),
  ]
}

/** Returns a function that does the work of a round. */
function repeat(work: () => Promise<unknown>, concurrency: number): () => Promise<void> {
  return async () => {
    for (let sent = 0; sent < REQUESTS; sent += concurrency)
      await Promise.all(Array.from({ length: concurrency }, work))
  }
}

/** Returns the times of reads without other load, and while the server checks as many passwords as it can. */
export async function measureReadsDuringLogins(
  { service }: Bench,
  reads: ClientReads,
): Promise<{ idle: readonly number[]; busy: readonly number[]; passwords: number }> {
  const idle = await reads.measureTimes()
  let passwords = 0
  let isOver = false
  const logInRepeatedly = async () => {
    while (!isOver) {
      await issueTokens({ service, base: BASE, realmName: REALM }, { form: login, address: ADDRESS })
      passwords++
    }
  }
  const logins = Array.from({ length: CONCURRENT_LOGINS }, logInRepeatedly)
  const busy = await reads.measureTimes()
  isOver = true
  await Promise.all(logins)
  return { idle, busy, passwords }
}

/** Returns functions that only sign: an access token, and an access token and a refresh token. */
async function createSigners() {
  const { privateKey } = await generateKeyPair('RS256')
  const secret = new Uint8Array(64)
  const claims = { iss: `${BASE}/realms/${REALM}`, sub: 'ann', name: 'Ann Example', scope: 'profile email' }
  const access = () => new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(privateKey)
  const refresh = () => new SignJWT(claims).setProtectedHeader({ alg: 'HS512' }).sign(secret)
  return { access, both: async () => [await access(), await refresh()] }
}

const realm = {
  realm: REALM,
  enabled: true,
  clients: [
    {
      clientId: client.client_id,
      secret: client.client_secret,
      publicClient: false,
      serviceAccountsEnabled: true,
      directAccessGrantsEnabled: true,
    },
  ],
  users: [
    {
      username: 'ann',
      enabled: true,
      email: 'ann@example.com',
      firstName: 'Ann',
      lastName: 'Example',
      credentials: [{ type: 'password', value: PASSWORD }],
    },
  ],
}
