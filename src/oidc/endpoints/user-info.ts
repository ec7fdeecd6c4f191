// The user info endpoint. OpenID Connect Core 1.0, section 5.3.
import { SYSTEM } from '../../service/context/service.ts'
import type { Transport } from '../../service/context/transport.ts'
import { statedAlgorithm } from '../algorithms.ts'
import type { Endpoint, EventNotes } from '../call.ts'
import { told } from '../events.ts'
import { isLight } from '../mappers/active.ts'
import { BearerError } from '../oauth-error.ts'
import { findTokenRealm, issuerOf, type TokenRealm } from '../realm.ts'
import { tokenContent } from '../tokens/token-content.ts'
import { subjectOf } from '../tokens/token-subject.ts'
import { isGood, signToken, verifyStanding } from '../tokens/tokens.ts'
import { demandOrigin } from '../web-origins.ts'

/** What a request shows: tokens of its header and of its form. */
export interface UserInfoRequest extends Transport {
  readonly bearer?: string | undefined
  readonly form?: string | undefined
  /** Of the page that asks, where it is one. */
  readonly origin?: string | undefined
}

/** What clients may know of whose token it is; as a text, a token, where the client wants it signed. Throws BearerError, OAuthError. */
export async function userInfo(
  endpoint: Endpoint,
  request: UserInfoRequest,
): Promise<Record<string, unknown> | string> {
  const { service, name } = endpoint
  const realm = await findTokenRealm(service, name)
  const details = { auth_method: 'validate_access_token' }
  const notes: EventNotes = { type: 'USER_INFO_REQUEST', address: request.address, details }
  return told(service, realm, notes, () => show({ ...endpoint, realm }, request, notes))
}

async function show(
  { service, base, realm }: Endpoint & { readonly realm: TokenRealm },
  { bearer, form, origin }: UserInfoRequest,
  notes: EventNotes,
): Promise<Record<string, unknown> | string> {
  const refuse = (status: number, error?: string, why?: string) => new BearerError(status, realm.name, error, why)
  if (bearer && form) throw refuse(400, 'invalid_request', 'More than one method used for including an access token')
  const token = bearer || form
  if (!token) throw refuse(401)
  const verified = await verifyStanding(service, token, ['Bearer'])
  if (!isGood(verified) || verified.realm.number !== realm.number) {
    const why = verified?.standing.counts === false ? verified.standing.why : undefined
    throw refuse(401, 'invalid_token', why ?? 'Token verification failed')
  }
  const { claims, issuedTo } = verified
  if (!claims.scope?.split(' ').includes('openid')) throw refuse(403, 'insufficient_scope', 'Missing openid scope')
  const { client, known } = await service.read(SYSTEM, realm, async (context) => {
    const subject = await subjectOf(context, realm, verified)
    const { client, user } = subject
    demandOrigin(client.representation, base, origin)
    if (isLight(client)) {
      throw refuse(401, 'invalid_token', 'Lightweight access token not allowed for userinfo endpoint')
    }
    Object.assign(notes, { client: client.key[0], user: user.id, session: issuedTo.session })
    notes.details.username = user.username
    return { client, known: (await tokenContent(service, context, subject, ['userInfo'])).claims('userInfo') }
  })
  const algorithm = statedAlgorithm(client.representation, 'userInfo') ?? 'none'
  notes.details.signature_required = String(algorithm !== 'none')
  if (algorithm === 'none') return known
  notes.details.signature_algorithm = algorithm
  const issued = { ...known, iss: issuerOf(base, realm.name), aud: client.key[0]! }
  return signToken(service, realm, { claims: issued, algorithm })
}
