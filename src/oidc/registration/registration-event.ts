// User events of client registration.
import type { UserEventType } from '../../kinds/user-events.ts'
import { type ErrorCode, ServiceError } from '../../service/context/errors.ts'
import { PolicyRefusedError } from '../../service/registration/registration-errors.ts'
import type { RegistrationCall } from './authenticate-registration.ts'

/** The event of a request. */
export interface RegistrationEvent {
  readonly type: Extract<UserEventType, `CLIENT_${'REGISTER' | 'INFO' | 'UPDATE' | 'DELETE'}`>
  readonly address: string
  /** Client id. Absent: it is that of the result. */
  readonly client?: string | undefined
}

/** Keycloak: the errors of events, by the meaning of the refusal. It records no others. */
const errors: Readonly<Partial<Record<ErrorCode, string>>> = {
  unauthorized: 'invalid_token',
  forbidden: 'not_allowed',
  not_found: 'client_not_found',
}

/** Runs work, and records its event; for a refusal, an error event. */
export async function withRegistrationEvent<T>(
  { service, realm }: Pick<RegistrationCall, 'service' | 'realm'>,
  event: RegistrationEvent,
  work: () => Promise<{ readonly client: string; readonly value: T }>,
): Promise<T> {
  try {
    const { client, value } = await work()
    await service.recordUserEvents(realm, [{ ...event, client }])
    return value
  } catch (error) {
    const code = error instanceof ServiceError ? errors[error.code] : undefined
    if (code !== undefined)
      await service.recordUserEvents(realm, [{ ...event, error: code, details: getDetails(error as ServiceError) }])
    throw error
  }
}

function getDetails(error: ServiceError): Record<string, string | undefined> {
  if (error instanceof PolicyRefusedError) return { client_registration_policy: error.policy }
  return { reason: error.code === 'unauthorized' ? error.message : undefined }
}
