// The secrets of clients that namespaces may have, for `writeSecretTo`.
import { parseVaultReference } from '../../kinds/vault-reference.ts'
import { toGrantablePermissions } from '../../service/context/admin-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import { listManagedByKeys } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { findMissingRolesForClients } from '../../service/permissions/privilege-escalation.ts'
import { listRealmSources } from '../../service/sources/source-records.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import type { SecretTarget } from '../desired/secret-template.ts'
import { toSourceName } from '../desired/source-name.ts'

/** A resource that names a Secret for the secret of its client. */
export interface SecretRequest {
  readonly declaring: DeclaringResource
  readonly clientId: string
  readonly target: SecretTarget
  /** Whether the Secret contains the secret of the client, not only its name. */
  readonly containsSecret: boolean
}

/** The secret of a client, absent if it is not requested; or the reason why the resource does not get it. */
export type RequestedSecret = { readonly secret?: string } | { readonly fault: ResourceFault }

/**
 * Returns the secrets of live clients for the namespaces that manage them. A namespace gets no secret of a client with roles that it may
 * not grant. A tenant namespace gets none of a client that another source manages too. Four statements, and one for each namespace.
 */
export async function getClientSecrets(
  context: Context,
  { name, owner, sourcePermissions }: ClusterRealm,
  requests: readonly SecretRequest[],
): Promise<Map<SecretRequest, RequestedSecret>> {
  const keys = [...new Set(requests.map(({ clientId }) => clientId))].map((clientId) => [clientId])
  const clientsById = new Map((await writers.client.list(context, { keys })).map((client) => [client.key[0]!, client]))
  const sources = (await listRealmSources(context)).map(({ source }) => source)
  const rows = await listManagedByKeys(
    context,
    sources,
    keys.map((key) => ({ kind: 'client', key })),
  )
  const rowsByObject = Map.groupBy(rows, ({ object }) => object)
  const secrets = new Map<SecretRequest, RequestedSecret>()
  for (const [namespace, namespaceRequests] of Map.groupBy(requests, ({ declaring }) => declaring.namespace)) {
    const managed = namespaceRequests.flatMap((request) => {
      const client = clientsById.get(request.clientId)
      const managers = ((client && rowsByObject.get(client.id)) ?? []).map(({ source }) => source)
      return client && managers.includes(toSourceName(namespace)) ? [{ request, client, managers }] : []
    })
    const permissions = toGrantablePermissions({ name, declaredName: name }, [sourcePermissions.get(namespace) ?? {}])
    const clientIds = managed.map(({ client }) => client.id)
    const missingRoles = await findMissingRolesForClients({ ...context, permissions }, clientIds)
    for (const { request, client, managers } of managed) {
      const otherSources = managers.filter((source) => source !== toSourceName(namespace))
      const conflictingSources = namespace === owner?.namespace ? [] : otherSources
      secrets.set(
        request,
        request.containsSecret
          ? getSecret(context, client, { conflictingSources, missingRoles: missingRoles.get(client.id) })
          : {},
      )
    }
  }
  return secrets
}

/** Returns the secret of a client. `missingRoles`: its roles that the namespace may not grant. */
function getSecret(
  { vault }: Context,
  { key: [clientId], representation: { secret, publicClient } }: LiveObject,
  {
    conflictingSources,
    missingRoles,
  }: { readonly conflictingSources: readonly string[]; readonly missingRoles: readonly string[] | undefined },
): RequestedSecret {
  const refuse = (reason: string, message: string): RequestedSecret => ({
    fault: { reason, message: `spec.writeSecretTo: ${message}` },
  })
  if (typeof secret !== 'string' || publicClient === true)
    return refuse('Invalid', `the client ${clientId} has no secret, since it is not confidential`)
  if (conflictingSources.length)
    return refuse('NotAdmitted', `the client ${clientId} is also declared by ${conflictingSources.join(', ')}`)
  if (missingRoles)
    return refuse(
      'NotAdmitted',
      `the client ${clientId} has roles that this namespace may not grant: ${missingRoles.join(', ')}`,
    )
  const text = vault.open(secret)
  // Otherwise a tenant could read each secret of the realm: it declares the reference.
  return parseVaultReference(text) === undefined
    ? { secret: text }
    : refuse(
        'Invalid',
        `the secret of the client ${clientId} is a reference to the vault, whose secrets are not copied`,
      )
}
