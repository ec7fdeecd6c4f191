// Authenticates requests for client registration. RFC 7591, section 3; RFC 7592, section 2. Keycloak: ClientRegistrationAuth.
import { lookup, reverse } from 'node:dns/promises'
import { isIP } from 'node:net'
import { waitAtMost } from '../../lib/timing/deadline.ts'
import { type Caller, type Service, SYSTEM } from '../../service/context/service.ts'
import { listRegistrationPolicies } from '../../service/registration/registered-clients.ts'
import { createTokenError } from '../../service/registration/registration-errors.ts'
import {
  getAccessType,
  getCreationType,
  type RegistrationCredential,
  type RegistrationParty,
} from '../../service/registration/registration-party.ts'
import { listRegistrationOrigins, listTrustedSenders } from '../../service/registration/registration-policies.ts'
import { isDomain, matchesHost } from '../../service/registration/trusted-hosts.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { getEnabledRealm, type OidcRealm, requireHttps } from '../oidc-realm.ts'
import { toCaller } from '../tokens/token-caller.ts'
import { isActiveToken, verifyTokenStatus } from '../tokens/tokens.ts'
import { readRegistrationToken } from './registration-tokens.ts'

/** A request with its Authorization header. */
export interface RegistrationMessage {
  readonly authorization?: string | undefined
  readonly address: string
  readonly secure: boolean
  /** Client id of the client that the request is about. Absent: it registers one. */
  readonly client?: string | undefined
}

/** An authenticated request. */
export interface RegistrationCall {
  readonly service: Service
  /** The address of the server, as the sender sees it. */
  readonly base: string
  readonly realm: OidcRealm
  /** The caller of the service. */
  readonly caller: Caller
  readonly party: RegistrationParty
  /** The origins of scripts that may send the request, and use the token in the response. Undefined: those of the token's client. */
  readonly origins: readonly string[] | undefined
}

/** Authenticates a request by its bearer token, if it has one. Throws OAuthError, unauthorized. */
export async function authenticateRegistration(
  { service, base, realmName }: RealmEndpoint,
  message: RegistrationMessage,
): Promise<RegistrationCall> {
  const { address, secure, client } = message
  const realm = await getEnabledRealm(service, realmName)
  requireHttps(realm, { address, secure })
  const { caller, credential, origins } = await findCredential(service, realm, message)
  const type = client === undefined ? getCreationType(credential) : getAccessType(credential)
  const policies = await service.read(SYSTEM, realm, (context) => listRegistrationPolicies(context, type))
  return {
    service,
    base,
    realm,
    caller,
    party: { credential, senderHosts: await findSenderHosts(address, listTrustedSenders(policies)) },
    origins: origins ?? (credential.kind === 'administrator' ? undefined : listRegistrationOrigins(policies)),
  }
}

interface FoundCredential extends Pick<RegistrationCall, 'caller'> {
  readonly credential: RegistrationCredential
  readonly origins?: readonly string[] | undefined
}

async function findCredential(
  service: Service,
  realm: OidcRealm,
  { authorization, address, secure, client }: RegistrationMessage,
): Promise<FoundCredential> {
  const transport = { address, secure }
  const caller: Caller = {
    isUnprivileged: true,
    actor: { kind: 'client', realm: realm.name, address, ...(client !== undefined && { client }) },
    transport,
  }
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return { caller, credential: { kind: 'none' } }
  const registrationToken = await readRegistrationToken(service, realm, token)
  if (registrationToken) return { caller, ...registrationToken }
  const verified = await verifyTokenStatus(service, token, { types: ['Bearer'], withPermissions: true })
  if (!isActiveToken(verified) || verified.realm.number !== realm.number) throw createTokenError('Failed decode token')
  return { caller: toCaller(verified, transport), credential: { kind: 'administrator' } }
}

/** Milliseconds after which a name that was not resolved counts as unknown. */
const LOOKUP_MS = 2_000

/**
 * Returns those of the trusted hosts and domains that a network address belongs to. A host is an address or a name, which is resolved. To
 * a domain belong the addresses whose own name, which must resolve to the address, is in the domain.
 */
async function findSenderHosts(address: string, trusted: readonly string[]): Promise<string[]> {
  const sender = toPlainAddress(address)
  const names = trusted.some(isDomain) ? await listNames(sender) : []
  const matches = await Promise.all(
    trusted.map(async (entry) => {
      if (isDomain(entry)) return names.some((name) => matchesHost(entry, name))
      return isIP(entry) ? toPlainAddress(entry) === sender : hasAddress(entry, sender)
    }),
  )
  return trusted.filter((_, at) => matches[at])
}

/** Returns the names of an address that resolve to it: its owner can choose any name. */
async function listNames(address: string): Promise<string[]> {
  const names = await within(reverse(address), [])
  const confirmed = await Promise.all(names.map((name) => hasAddress(name, address)))
  return names.filter((_, at) => confirmed[at])
}

async function hasAddress(name: string, address: string): Promise<boolean> {
  const addresses = await within(lookup(name, { all: true }), [])
  return addresses.some((candidate) => toPlainAddress(candidate.address) === address)
}

/** Returns an address in lower case; an IPv4 address that is mapped to IPv6 as itself. */
const toPlainAddress = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')

/** Returns the result of a lookup; `unknown` if it fails or takes too long. */
async function within<T>(looking: Promise<T>, unknown: T): Promise<T> {
  let result = unknown
  const work = looking.then(
    (value) => {
      result = value
    },
    () => undefined,
  )
  await waitAtMost(LOOKUP_MS, work)
  return result
}
