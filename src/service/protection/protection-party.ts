// The caller of the protection API, by which a client with authorization services manages its resources. Keycloak: ProtectionService.
import { client as clientKind, defaultAuthorizationSettings } from '../../kinds/client.ts'
import { viewOf } from '../../kinds/kind.ts'
import { failure } from '../context/errors.ts'
import type { LiveObject } from '../objects/live-objects.ts'

/** The caller: the client itself, or a user with a token of the client. */
export interface ProtectionParty {
  /** The client with the resources. */
  readonly server: LiveObject
  readonly user: { readonly id: string; readonly username: string }
  /** Whether the user is the service account of the client. */
  readonly isServer: boolean
  /** Whether the token has the role `uma_protection` of the client. */
  readonly hasProtectionRole: boolean
}

/** Returns the id of the owner of resources that the caller creates. */
export const getPartyId = ({ server, user, isServer }: ProtectionParty): string => (isServer ? server.id : user.id)

/** Throws forbidden unless the caller has the role that the protection API requires. */
export function requireProtectionRole({ hasProtectionRole }: ProtectionParty): void {
  if (!hasProtectionRole)
    throw failure('forbidden', 'Requires uma_protection scope.', { form: { error: 'invalid_scope' } })
}

/** Whether the client may manage its resources by the protection API. */
export function allowsRemoteManagement({ server }: ProtectionParty): boolean {
  const settings = viewOf(clientKind, server.representation).authorizationSettings
  return { ...defaultAuthorizationSettings, ...settings }.allowRemoteResourceManagement === true
}
