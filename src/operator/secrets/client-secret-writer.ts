// Writes client secrets to the Kubernetes Secrets that resources name, and again after either has changed.
import { kinds } from '../../kinds/index.ts'
import { readObject, readText } from '../../kinds/json.ts'
import { listResourceNames } from '../../kinds/resource-kinds.ts'
import { parseVaultReference } from '../../kinds/vault-reference.ts'
import { toGrantablePermissions } from '../../service/context/admin-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { listManagedByKeys } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { findMissingRolesForClients } from '../../service/permissions/privilege-escalation.ts'
import { listRealmSources } from '../../service/sources/source-records.ts'
import type { ClusterCache } from '../cluster/cluster-cache.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import { toSourceName } from '../desired/source-name.ts'
import type { RealmRunResult } from '../status/realm-run-result.ts'
import type { SecretWriter } from './secret-writer.ts'

/** Options of a writer of client secrets. */
export interface ClientSecretWriterOptions {
  readonly cache: Pick<ClusterCache, 'findSecret'>
  readonly secretWriter: SecretWriter
  /** Called when client secrets of the realm may have changed. */
  readonly onChange: (realm: string) => void
}

/** A resource that names a Secret for the secret of its client. */
interface SecretRequest {
  readonly declaring: DeclaringResource
  readonly clientId: string
  readonly target: { readonly name: string; readonly key: string }
}

/** The secret of a client, or the reason why the resource does not get it. */
type RequestedSecret = { readonly secret: string } | { readonly fault: ResourceFault }

const [CLIENT_RESOURCE] = listResourceNames(kinds.client)

/** Writes secrets of clients into Kubernetes Secrets (`writeSecretTo`). Until it is closed, it reports realms whose secrets may have changed. */
export class ClientSecretWriter {
  readonly #service: Service
  readonly #options: ClientSecretWriterOptions
  /** Names of the realms with requested secrets, by number. */
  readonly #realms = new Map<number, string>()
  /** Resource versions of Secrets after they were written, by namespace and name. */
  readonly #writtenVersions = new Map<string, string | undefined>()
  readonly #unsubscribe: () => void

  constructor(service: Service, options: ClientSecretWriterOptions) {
    this.#service = service
    this.#options = options
    this.#unsubscribe = service.subscribe(({ topic, realm }) => {
      const changed = topic === 'drift' && realm !== undefined ? this.#realms.get(realm) : undefined
      if (changed !== undefined) options.onChange(changed)
      if (topic === 'everything') for (const name of this.#realms.values()) options.onChange(name)
    })
  }

  /** Writes the secrets of applied clients that differ from their Secrets. Returns the faults of those that cannot be written, by file. */
  async write(realm: ClusterRealm, excluded: RealmRunResult['faults']): Promise<ReadonlyMap<string, ResourceFault>> {
    const requests = listRequests(realm).filter(({ declaring }) => !excluded.has(declaring.file))
    const [live] = requests.length ? await this.#service.findRealms([realm.name]) : []
    if (!live) return new Map()
    this.#realms.set(live.number, realm.name)
    const secrets = await this.#service.read(SYSTEM, live, (context) => getSecrets(context, realm, requests))
    const faults = await Promise.all(
      [...secrets].map(
        async ([request, secret]) => [request.declaring.file, await this.#write(request, secret)] as const,
      ),
    )
    return new Map(faults.flatMap(([file, fault]) => (fault ? [[file, fault] as const] : [])))
  }

  /** Whether a Secret has changed since it was written. */
  isOutdated(realm: ClusterRealm): boolean {
    return listRequests(realm).some((request) => {
      const target = getTargetName(request)
      return this.#writtenVersions.has(target) && this.#writtenVersions.get(target) !== this.#findVersion(request)
    })
  }

  close(): void {
    this.#unsubscribe()
  }

  async #write(request: SecretRequest, requested: RequestedSecret): Promise<ResourceFault | undefined> {
    if ('fault' in requested) return requested.fault
    const { declaring, target } = request
    const { resource: owner, namespace } = declaring
    const refusal = await this.#options.secretWriter.write({ owner, namespace, ...target, text: requested.secret })
    this.#writtenVersions.set(getTargetName(request), this.#findVersion(request))
    return refusal === undefined ? undefined : { reason: 'SecretNotWritten', message: `spec.writeSecretTo: ${refusal}` }
  }

  #findVersion({ declaring, target }: SecretRequest): string | undefined {
    return this.#options.cache.findSecret(declaring.namespace, target.name)?.metadata.resourceVersion
  }
}

const getTargetName = ({ declaring, target }: SecretRequest) => `${declaring.namespace}/${target.name}`

function listRequests({ resources }: ClusterRealm): SecretRequest[] {
  return resources.flatMap((declaring) => {
    const { kind, spec = {}, metadata } = declaring.resource
    const { name, key } = readObject(spec.writeSecretTo)
    if (kind !== CLIENT_RESOURCE || !declaring.declaration || typeof name !== 'string') return []
    const target = { name, key: readText(key) ?? 'client-secret' }
    return [{ declaring, clientId: String(spec.clientId ?? metadata.name), target }]
  })
}

/**
 * Returns the secrets of clients for the namespaces that manage them. A namespace gets no secret of a client with roles that it may
 * not grant. A tenant namespace gets none of a client that another source manages too. Four statements, and one for each namespace.
 */
async function getSecrets(
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
        getSecret(context, client, { conflictingSources, missingRoles: missingRoles.get(client.id) }),
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
