// User events of requests of clients. A request collects the details of its event, which is recorded when it ends.
import type { UserEventType } from '../kinds/user-events.ts'
import { RuntimeRefusal } from '../service/context/errors.ts'
import type { Service } from '../service/context/service.ts'
import type { OidcRealm } from './oidc-realm.ts'

/** A user event of a request in progress. */
export interface EventDraft {
  readonly type: UserEventType
  readonly address?: string | undefined
  client?: string | undefined
  user?: string | undefined
  session?: string | undefined
  /** Keycloak: some requests fail with a successful response. */
  error?: string
  /** No event is recorded, since nothing changed. */
  isSuppressed?: true
  readonly details: Record<string, string | undefined>
}

/** Runs work, and records its event; for a refusal, an error event. */
export async function withUserEvent<T>(
  { service, realm, event }: { readonly service: Service; readonly realm: OidcRealm; readonly event: EventDraft },
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    const { isSuppressed, ...recorded } = event
    if (!isSuppressed) await service.recordUserEvents(realm, [recorded])
    return result
  } catch (refusal) {
    if (refusal instanceof RuntimeRefusal && refusal.event) {
      const { error, reason } = refusal.event
      await service.recordUserEvents(realm, [{ ...event, error, details: { reason, ...event.details } }])
    }
    throw refusal
  }
}
