// Writes secrets of clients and generated passwords of users to the Kubernetes Secrets that resources name, and again after a change.
import { randomInt } from 'node:crypto'
import { readText } from '../../kinds/json.ts'
import { getIssuer } from '../../oidc/oidc-realm.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'
import type { ClusterCache } from '../cluster/cluster-cache.ts'
import { readSecretText } from '../cluster/resource.ts'
import type { SecretWriter } from '../cluster/secret-writer.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { hasGeneratedPassword } from '../desired/resource-declaration.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import {
  getPasswordKey,
  isWritingKind,
  listVariables,
  readSecretTarget,
  renderTemplates,
  type SecretTarget,
  type SecretValues,
} from '../desired/secret-template.ts'
import type { RealmRunResult } from '../status/realm-run-result.ts'
import { getClientSecrets, type SecretRequest } from './client-secrets.ts'

/** Options of a ResourceSecretWriter. */
export interface ResourceSecretWriterOptions {
  readonly cache: Pick<ClusterCache, 'findSecret' | 'listSecrets'>
  readonly secretWriter: SecretWriter
  /** The URL under which clients reach the server; undefined if no setting names it. */
  readonly publicUrl: string | undefined
  /** Called when secrets of the realm may have changed. */
  readonly onChange: (realm: string) => void
}

/** A resource with the Secret that it names. */
interface TargetedResource {
  readonly declaring: DeclaringResource
  readonly target: SecretTarget
}

/** A Secret with the values of its variables, or the reason why it is not written. */
type PreparedSecret = TargetedResource & ({ readonly values: SecretValues } | { readonly fault: ResourceFault })

/** The characters of generated passwords. Each class has the same share, so that policies of passwords accept them. */
const CHARACTER_CLASSES = ['ABCDEFGHJKLMNPQRSTUVWXYZ', 'abcdefghijkmnopqrstuvwxyz', '23456789', '-_.!']
const PASSWORD_LENGTH = 32

/** Writes the Secrets that resources name in `writeSecretTo`. Until it is closed, it reports realms whose secrets may have changed. */
export class ResourceSecretWriter {
  readonly #service: Service
  readonly #options: ResourceSecretWriterOptions
  /** Names of the realms with requested secrets, by number. */
  readonly #realms = new Map<number, string>()
  /** Resource versions of Secrets after they were written, by namespace and name. */
  readonly #writtenVersions = new Map<string, string | undefined>()
  readonly #unsubscribe: () => void

  constructor(service: Service, options: ResourceSecretWriterOptions) {
    this.#service = service
    this.#options = options
    this.#unsubscribe = service.subscribe(({ topic, realm }) => {
      const changed = topic === 'drift' && realm !== undefined ? this.#realms.get(realm) : undefined
      if (changed !== undefined) options.onChange(changed)
      if (topic === 'everything') for (const name of this.#realms.values()) options.onChange(name)
    })
  }

  /**
   * Writes the Secrets of live clients and of users, and deletes Secrets that resources do not name any more. Returns the faults of
   * resources whose Secret cannot be written, by file; of those in `excluded`, none.
   */
  async write(realm: ClusterRealm, excluded: RealmRunResult['faults']): Promise<ReadonlyMap<string, ResourceFault>> {
    await this.#removeUnnamed(realm)
    const targeted = listTargeted(realm)
    const [live] = targeted.length ? await this.#service.findRealms([realm.name]) : []
    if (!live) return new Map()
    this.#realms.set(live.number, realm.name)
    const prepared = [...(await this.#prepareClients(realm, live, targeted)), ...this.#prepareUsers(live, targeted)]
    const faults = await Promise.all(
      prepared.map(async (secret) => [secret.declaring.file, await this.#write(secret)] as const),
    )
    return new Map(faults.flatMap(([file, fault]) => (fault && !excluded.has(file) ? [[file, fault] as const] : [])))
  }

  /** Whether a Secret has changed since it was written. */
  isOutdated(realm: ClusterRealm): boolean {
    return listTargeted(realm).some((targeted) => {
      const name = getTargetName(targeted)
      return this.#writtenVersions.has(name) && this.#writtenVersions.get(name) !== this.#findVersion(targeted)
    })
  }

  close(): void {
    this.#unsubscribe()
  }

  /** Returns the Secrets of clients that are live and that the namespace manages. */
  async #prepareClients(
    realm: ClusterRealm,
    live: RealmRow,
    targeted: readonly TargetedResource[],
  ): Promise<PreparedSecret[]> {
    const requests = targeted
      .filter(({ declaring }) => declaring.resource.kind === 'RealmClient')
      .map(({ declaring, target }): SecretRequest => {
        const { spec = {}, metadata } = declaring.resource
        const clientId = readText(spec.clientId) ?? metadata.name
        return { declaring, target, clientId, containsSecret: listVariables(target).has('clientSecret') }
      })
    if (!requests.length) return []
    const secrets = await this.#service.read(SYSTEM, live, (context) => getClientSecrets(context, realm, requests))
    return [...secrets].map(([{ declaring, target, clientId }, requested]) =>
      'fault' in requested
        ? { declaring, target, fault: requested.fault }
        : this.#prepare({ declaring, target }, live, { clientId, clientSecret: requested.secret }),
    )
  }

  /** Returns the Secrets of users, whose passwords are generated once. */
  #prepareUsers(live: RealmRow, targeted: readonly TargetedResource[]): PreparedSecret[] {
    return targeted
      .filter(({ declaring: { resource } }) => resource.kind === 'RealmUser' && hasGeneratedPassword(resource))
      .map(({ declaring, target }) => {
        const { spec = {}, metadata } = declaring.resource
        const secret = this.#options.cache.findSecret(declaring.namespace, target.name)
        const password = (secret && readSecretText(secret, getPasswordKey(spec))) ?? generatePassword()
        return this.#prepare({ declaring, target }, live, {
          username: readText(spec.username) ?? metadata.name,
          password,
        })
      })
  }

  /** Adds the values that do not depend on the object. */
  #prepare(targeted: TargetedResource, live: RealmRow, ofObject: SecretValues): PreparedSecret {
    const { publicUrl } = this.#options
    const values = {
      ...ofObject,
      realm: live.name,
      issuer: publicUrl === undefined ? undefined : getIssuer(publicUrl, live),
    }
    const missing = [...listVariables(targeted.target)].find((name) => !Object.hasOwn(values, name))
    if (missing !== undefined) {
      const variables = Object.keys(values).map((name) => `$(${name})`)
      return { ...targeted, fault: toFault(`template: $(${missing}) does not exist. Use ${variables.join(', ')}.`) }
    }
    if (values.issuer === undefined && listVariables(targeted.target).has('issuer'))
      return { ...targeted, fault: toFault('template: $(issuer) requires the setting --hostname of the server.') }
    return { ...targeted, values }
  }

  async #write(prepared: PreparedSecret): Promise<ResourceFault | undefined> {
    if ('fault' in prepared) return prepared.fault
    const { declaring, target, values } = prepared
    const { resource: owner, namespace } = declaring
    const texts = renderTemplates(target, values)
    const { secretWriter } = this.#options
    const refusal = await secretWriter.write({ owner, namespace, name: target.name, texts })
    this.#writtenVersions.set(getTargetName(prepared), this.#findVersion(prepared))
    return refusal === undefined ? undefined : { reason: 'SecretNotWritten', message: `spec.writeSecretTo: ${refusal}` }
  }

  /** Deletes Secrets that their resources do not name any more. */
  async #removeUnnamed({ resources }: ClusterRealm): Promise<void> {
    const { cache, secretWriter } = this.#options
    const namespaces = new Set(resources.map(({ namespace }) => namespace))
    const secrets = [...namespaces].flatMap((namespace) => cache.listSecrets(namespace))
    const owners = new Set(secrets.flatMap(({ metadata }) => metadata.ownerReferences ?? []).map(({ uid }) => uid))
    for (const { resource, removal } of resources) {
      const { kind, spec = {}, metadata } = resource
      if (removal || !owners.has(metadata.uid) || !isWritingKind(kind)) continue
      await secretWriter.removeOthers(resource, readSecretTarget(kind, spec)?.name)
    }
  }

  #findVersion({ declaring, target }: TargetedResource): string | undefined {
    return this.#options.cache.findSecret(declaring.namespace, target.name)?.metadata.resourceVersion
  }
}

const toFault = (message: string): ResourceFault => ({ reason: 'Invalid', message: `spec.writeSecretTo.${message}` })

const getTargetName = ({ declaring, target }: TargetedResource) => `${declaring.namespace}/${target.name}`

/** Returns the resources of a realm that name a Secret. */
function listTargeted({ resources }: ClusterRealm): TargetedResource[] {
  return resources.flatMap((declaring) => {
    const { kind, spec = {} } = declaring.resource
    const target = isWritingKind(kind) && !declaring.removal ? readSecretTarget(kind, spec) : undefined
    return target ? [{ declaring, target }] : []
  })
}

/** Generates a password with letters, digits and punctuation. */
function generatePassword(): string {
  const pick = (characters: string) => characters[randomInt(characters.length)]!
  const characters = Array.from({ length: PASSWORD_LENGTH }, (_, at) =>
    pick(CHARACTER_CLASSES[at % CHARACTER_CLASSES.length]!),
  )
  for (let at = characters.length - 1; at > 0; at--) {
    const other = randomInt(at + 1)
    ;[characters[at], characters[other]] = [characters[other]!, characters[at]!]
  }
  return characters.join('')
}
