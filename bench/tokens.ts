// Tokens, against signing the same ones; and what reads take while passwords are checked.
import { availableParallelism } from 'node:os'
import { generateKeyPair, SignJWT } from 'jose'
import { issueTokens } from '../src/oidc/endpoints/token-endpoint.ts'
import { parseDocuments } from '../src/realm-file/yaml/parse-documents.ts'
import { applySources } from '../src/reconcile/run/run.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import type { Bench, Case } from './measure.ts'
import type { PointReads } from './point-read.ts'

const REALM = 'measured-tokens'
const BASE = 'https://id.example.com'
/** Where requests come from: this machine, from which realms demand no HTTPS. */
const ADDRESS = '127.0.0.1'
const PASSWORD = 'a-password'
/** How many tokens a round gives. */
const TIMES = 40
/** How many people log in at a time, which is more than there are cores. */
const AT_ONCE = 8
/** People who log in all the time: four for each password that the server checks at a time keep it busy, more only wait. */
const PEOPLE = 4 * Math.max(1, availableParallelism() - 1)

const client = { client_id: 'service', client_secret: 'service-secret' }
const login = { ...client, grant_type: 'password', username: 'ann', password: PASSWORD }

/** The cases, on a realm of their own. */
export async function tokens(bench: Bench): Promise<Case[]> {
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
  const floors = await signing()
  // What is kept in memory of a realm is read by the first request.
  await request(credentials)
  const inTurn = (work: () => Promise<unknown>) => async () => {
    for (let at = 0; at < TIMES; at++) await work()
  }
  const atOnce = (work: () => Promise<unknown>) => async () => {
    for (let at = 0; at < TIMES; at += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, work))
  }
  const one = (
    name: string,
    form: Record<string, string>,
    floor: () => Promise<unknown>,
    how: typeof inTurn,
  ): Case => ({
    name,
    rounds: 30,
    seconds: 4,
    times: TIMES,
    floor: () => how(floor),
    operation: () => how(() => request(form)),
  })
  return [
    one('client credentials', credentials, floors.access, inTurn),
    one(`client credentials, ${AT_ONCE} at once`, credentials, floors.access, atOnce),
    one('refresh', refresh, floors.both, inTurn),
  ]
}

/** How long reads take alone, and while as many passwords are checked as the server does at a time. */
export async function readsBesidePasswords(
  { service }: Bench,
  reads: PointReads,
): Promise<{ idle: readonly number[]; beside: readonly number[]; passwords: number }> {
  const idle = await reads.times()
  let passwords = 0
  let over = false
  const person = async () => {
    while (!over) {
      await issueTokens({ service, base: BASE, realmName: REALM }, { form: login, address: ADDRESS })
      passwords++
    }
  }
  const people = Array.from({ length: PEOPLE }, person)
  const beside = await reads.times()
  over = true
  await Promise.all(people)
  return { idle, beside, passwords }
}

/** Signing alone: an access token, and one together with a refresh token. */
async function signing() {
  const { privateKey } = await generateKeyPair('RS256')
  const secret = new Uint8Array(64)
  const claims = { iss: `${BASE}/realms/${REALM}`, sub: 'somebody', name: 'Ann Example', scope: 'profile email' }
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
