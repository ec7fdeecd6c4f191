// Secrets of clients, written where their resources ask for them, and again when they change or somebody else changes them there.
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { listResourceNames } from '../../realm-file/resources/resource-kinds.ts'
import { toGrantablePermissions } from '../../service/context/admin-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { listManagedByKeys } from '../../service/journal/source-inventory.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { findMissingRolesForClients } from '../../service/permissions/privilege-escalation.ts'
import { listRealmSources } from '../../service/sources/source-records.ts'
import { type Fault, type Member, type RealmOf, sourceOf } from '../desired.ts'
import type { LivePicture } from '../picture.ts'
import type { Result } from '../status/result.ts'
import type { Keeper } from './secret-keeper.ts'

/** Follows the secrets of clients. */
export interface ClientSecrets {
  /** Writes what differs, of clients that were applied; gives what cannot be written, by what their resources are called. */
  write(realm: RealmOf, faults: Result['faults']): Promise<ReadonlyMap<string, Fault>>
  /** Whether a Secret that was written is not as it was left. */
  isMoved(realm: RealmOf): boolean
  stop(): void
}

const [CLIENT] = listResourceNames(kinds.client)

/** A resource that asks for the secret of its client. */
interface Asking {
  readonly member: Member
  readonly clientId: string
  readonly target: { readonly name: string; readonly key: string }
}

/** What secrets of clients are followed with. */
export interface ClientSecretsOptions {
  readonly picture: Pick<LivePicture, 'secret'>
  readonly keeper: Keeper
  /** Somebody may have changed a secret in the realm. */
  readonly changed: (realm: string) => void
}

/** Follows the secrets of clients until it is stopped. */
export function clientSecrets(service: Service, { picture, keeper, changed }: ClientSecretsOptions): ClientSecrets {
  /** Realms in which some ask, by number. */
  const realms = new Map<number, string>()
  /** Versions of Secrets as they were left. */
  const left = new Map<string, string | undefined>()
  const stop = service.subscribe(({ topic, realm }) => {
    if (topic === 'drift' && realms.has(realm!)) changed(realms.get(realm!)!)
    if (topic === 'everything') for (const name of realms.values()) changed(name)
  })
  const versionOf = ({ member, target }: Asking) =>
    picture.secret(member.namespace, target.name)?.metadata.resourceVersion
  const placeOf = ({ member, target }: Asking) => `${member.namespace}/${target.name}`

  const write = async (one: Asking, found: Found): Promise<Fault | undefined> => {
    if ('fault' in found) return found.fault
    const { resource, namespace } = one.member
    const refused = await keeper.keep({ owner: resource, namespace, ...one.target, text: found.secret })
    left.set(placeOf(one), versionOf(one))
    return refused === undefined ? undefined : { reason: 'SecretNotWritten', message: `spec.writeSecretTo: ${refused}` }
  }
  return {
    async write(realm, faults) {
      const asking = askingIn(realm).filter(({ member }) => !faults.has(member.file))
      const [there] = asking.length ? await service.findRealms([realm.name]) : []
      if (!there) return new Map()
      realms.set(there.number, realm.name)
      const found = await service.read(SYSTEM, there, (context) => secretsOf(context, realm, asking))
      const told = await Promise.all(
        [...found].map(async ([one, secret]) => [one.member.file, await write(one, secret)] as const),
      )
      return new Map(told.flatMap(([file, fault]) => (fault ? [[file, fault] as const] : [])))
    },
    isMoved: (realm) =>
      askingIn(realm).some((one) => left.has(placeOf(one)) && left.get(placeOf(one)) !== versionOf(one)),
    stop,
  }
}

function askingIn({ members }: RealmOf): Asking[] {
  return members.flatMap((member) => {
    const { kind, spec = {}, metadata } = member.resource
    const wanted = kind === CLIENT && member.stated ? (spec.writeSecretTo as Representation | undefined) : undefined
    if (!wanted) return []
    const { name, key = 'client-secret' } = wanted as { name: string; key?: string }
    return [{ member, clientId: String(spec.clientId ?? metadata.name), target: { name, key } }]
  })
}

type Found = { readonly secret: string } | { readonly fault: Fault }

/**
 * The secrets of clients that the namespaces which ask for them own by now. A namespace gets none of clients that are stronger
 * than what it may give, and as a guest of the realm none that others state too. Four statements, and one for each guest.
 */
async function secretsOf(
  context: Context,
  { name, holder, ceilings }: RealmOf,
  asking: readonly Asking[],
): Promise<Map<Asking, Found>> {
  const keys = [...new Set(asking.map(({ clientId }) => clientId))].map((clientId) => [clientId])
  const live = new Map((await writers.client.list(context, { keys })).map((one) => [one.key[0]!, one]))
  const sources = (await listRealmSources(context)).map(({ source }) => source)
  const rows = await listManagedByKeys(
    context,
    sources,
    keys.map((key) => ({ kind: 'client', key })),
  )
  const owners = Map.groupBy(rows, ({ object }) => object)
  const found = new Map<Asking, Found>()
  for (const [namespace, own] of Map.groupBy(asking, ({ member }) => member.namespace)) {
    const clients = own.flatMap((one) => {
      const client = live.get(one.clientId)
      const owning = (client && owners.get(client.id)) ?? []
      return owning.some(({ source }) => source === sourceOf(namespace)) ? [{ one, client: client!, owning }] : []
    })
    const permissions = toGrantablePermissions(name, [ceilings.get(namespace) ?? {}])
    const ids = clients.map(({ client }) => client.id)
    const stronger = await findMissingRolesForClients({ ...context, permissions }, ids)
    for (const { one, client, owning } of clients) {
      const others = owning.map(({ source }) => source).filter((source) => source !== sourceOf(namespace))
      const stating = namespace === holder?.namespace ? [] : others
      found.set(one, secretOf(context, client, stating, stronger.get(client.id)))
    }
  }
  return found
}

function secretOf(
  { vault }: Context,
  { key: [clientId], representation: { secret, publicClient } }: LiveObject,
  others: readonly string[],
  missing: readonly string[] | undefined,
): Found {
  const refused = (reason: string, message: string): Found => ({
    fault: { reason, message: `spec.writeSecretTo: ${message}` },
  })
  if (typeof secret !== 'string' || publicClient === true)
    return refused('Invalid', `the client ${clientId} has no secret: only confidential clients have one`)
  if (others.length) return refused('NotAdmitted', `${others.join(', ')} states the client ${clientId} too`)
  if (missing)
    return refused(
      'NotAdmitted',
      `the client ${clientId} has roles that this namespace may not give: ${missing.join(', ')}`,
    )
  return { secret: vault.open(secret) }
}
