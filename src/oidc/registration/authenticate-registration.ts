// Authenticates requests for client registration. RFC 7591, section 3; RFC 7592, section 2. Keycloak: ClientRegistrationAuth.
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
import { findSenderHosts } from '../../service/registration/sender-hosts.ts'
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
  /** Whether it registers a client; otherwise it is about one that exists. */
  readonly creates: boolean
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
  const { address, secure, creates } = message
  const realm = await getEnabledRealm(service, realmName)
  requireHttps(realm, { address, secure })
  const { caller, credential, origins } = await findCredential(service, realm, message)
  const type = creates ? getCreationType(credential) : getAccessType(credential)
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
  { authorization, address, secure }: RegistrationMessage,
): Promise<FoundCredential> {
  const transport = { address, secure }
  const caller: Caller = {
    isUnprivileged: true,
    actor: { kind: 'client', realm: realm.name, address },
    transport,
  }
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) return { caller, credential: { kind: 'none' } }
  const own = await readRegistrationToken(service, realm, token)
  if (own) return { caller, ...own }
  const verified = await verifyTokenStatus(service, token, { types: ['Bearer'], withPermissions: true })
  if (!isActiveToken(verified) || verified.realm.number !== realm.number) throw createTokenError('Failed decode token')
  return { caller: toCaller(verified, transport), credential: { kind: 'administrator' } }
}
