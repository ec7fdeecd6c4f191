// The caller of the service for an access token.
import type { Caller } from '../../service/context/service.ts'
import type { ActiveToken } from './tokens.ts'

/** Returns the caller with an access token, whose status contains the admin permissions of its user. */
export function toCaller(
  { issued, status, claims }: ActiveToken,
  transport: { readonly address: string; readonly secure: boolean },
): Caller {
  const { client, user, permissions, versions, isClientTrusted } = status
  const { realm, session } = issued
  return {
    user: { realm: realm.name, id: user.id, ...(session !== undefined && { session }) },
    token: issued,
    ...(isClientTrusted && { claims }),
    transport,
    ...(permissions && versions && { permissions, permissionVersions: versions }),
    actor: {
      kind: 'administrator',
      realm: realm.name,
      userId: user.id,
      user: user.username,
      address: transport.address,
      client,
    },
  }
}
