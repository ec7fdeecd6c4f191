// The events of calls of applications: what is found out on the way is noted, and told when the call has ended.
import { decodeJwt } from 'jose'
import { Refusal } from '../service/context/errors.ts'
import type { Service } from '../service/context/service.ts'
import type { EventNotes } from './call.ts'
import type { Granted } from './grants/grant.ts'
import type { TokenRealm } from './realm.ts'

/** Does the work, and tells of it: what it notes, or why it was refused. */
export async function told<T>(
  service: Service,
  realm: TokenRealm,
  notes: EventNotes,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    const { none, ...event } = notes
    if (!none) await service.tell(realm, [event])
    return result
  } catch (refusal) {
    if (refusal instanceof Refusal && refusal.event) {
      const { error, reason } = refusal.event
      await service.tell(realm, [{ ...notes, error, details: { reason, ...notes.details } }])
    }
    throw refusal
  }
}

/** Notes what was granted, and which tokens the answer holds. */
export function noteTokens(
  notes: EventNotes,
  { user, session }: Granted,
  response: Readonly<Record<string, unknown>>,
): void {
  const { details } = notes
  notes.user = user.id
  notes.session = session?.id
  const { access_token: access, refresh_token: refresh, scope } = response
  details.token_id = decodeJwt(String(access)).jti
  details.scope = String(scope)
  if (refresh === undefined) return
  const { jti, typ } = decodeJwt<{ typ: string }>(String(refresh))
  const refreshed = details.refresh_token_id !== undefined
  Object.assign(details, {
    refresh_token_type: typ,
    ...(refreshed
      ? { updated_refresh_token_id: jti, access_token_expiration_time: String(response.expires_in) }
      : { refresh_token_id: jti }),
  })
}
