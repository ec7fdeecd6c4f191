// A RealmSource while it is followed: its repository, and what is known of what it states.
import { parseDuration } from '../../realm-file/resources/duration.ts'
import { type FollowedRepository, openRepository } from '../../reconcile/following/repository.ts'
import { getRealmName } from '../../reconcile/merge/merge-sources.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import type { Service } from '../../service/context/service.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import { getAppliedAndPending } from '../../service/sources/source-records.ts'
import { underBoth } from '../admission/admission.ts'
import { settingsOf } from '../desired.ts'
import { ceilingOf, type Grounds, grantOf } from './grants.ts'
import { type GitSource, gitSourceOf } from './stated.ts'
import type { Found } from './status.ts'

/** What is kept of a RealmSource. */
export interface Entry {
  /** Of what it said when this was made: where that is another one, this ends. */
  readonly print: string
  /** The resource as it was looked at last. */
  source: GitSource
  /** How it stands; absent: it was not looked at yet. */
  found?: Found
  repository?: FollowedRepository
  readonly ending: AbortController
  /** The realms that it states, or has stated. */
  realms: readonly string[]
  /** What of that it may touch, as it was looked at last. */
  grants?: string
  /** What it has applied, and how many objects it owns; absent: to be asked for. */
  applied?: readonly AppliedSource[]
  objects?: number
  /** What was asked for by annotations, and followed; `handled`: when it was found out how it stands. */
  requested: string | undefined
  handled?: string | undefined
  approved?: string
}

/** How sources of clusters are followed where they do not say it. */
export interface Usual {
  /** Seconds. */
  readonly interval: number
  /** File with signers. */
  readonly signers: string | undefined
}

/** What decides whether a source is followed anew. */
export function printOf({ follows, fault, leaves, resource }: GitSource): string {
  const { uid, generation } = resource.metadata
  return JSON.stringify([uid, generation, follows, fault, leaves])
}

/** What a source may touch of the realms, in a text that is the same as long as that is. */
export function grantsTold({ source, realms }: Entry, grounds: Grounds): string {
  const told = realms.map((realm) => [
    realm,
    grounds.holderOf(realm),
    ...[true, false].map((exists) => grantOf(source.namespace, realm, exists, grounds)),
  ])
  return JSON.stringify(told)
}

/** What a repository is opened with. */
export interface EntryOptions {
  readonly usual: Usual
  /** Returns the resource as it is now. */
  readonly latest: () => GitSource | undefined
  readonly grounds: () => Grounds
}

/** Opens its repository. Throws SourceError. */
export async function openEntry(
  service: Service,
  entry: Entry,
  { usual: { interval: every, signers }, latest, grounds }: EntryOptions,
): Promise<FollowedRepository> {
  const { name, namespace, follows } = entry.source
  const { spec, address, brings } = follows!
  const { interval, retryInterval, timeout, dependsOn, suspend, unknownFields, permissions: limits } = spec
  const seconds = interval ? parseDuration(interval) : every

  const settled = async (state: SourceContent): Promise<SourceContent> => {
    entry.applied ??= (await getAppliedAndPending(service, [name])).applied
    const before = entry.applied.map(({ realm, declaredName }) => declaredName ?? realm)
    entry.realms = [...new Set([...state.documents.map(getRealmName), ...before])]
    const there = new Set((await service.findRealms(entry.realms)).map((realm) => realm.name))
    const now = grounds()
    entry.grants = grantsTold(entry, now)
    const ceiling = ceilingOf(state.documents, before, (realm) => grantOf(namespace, realm, there.has(realm), now))
    return { ...state, settings: settingsOf(entry.source), sourcePermissions: underBoth(ceiling, limits) }
  }
  const repository = await openRepository(address, {
    ...{ name, unknownFields, suspend, keys: brings, signersFile: signers, configure: settled },
    dependsOn: dependsOn?.map((one) => gitSourceOf(namespace, one)),
    interval: seconds,
    retryInterval: retryInterval ? parseDuration(retryInterval) : seconds,
    timeout: timeout ? parseDuration(timeout) : undefined,
    signal: entry.ending.signal,
    env: {},
    isAllowed: () => false,
    outbound: service.outbound,
  })
  const { read } = repository
  return Object.assign(repository, {
    read() {
      entry.source = latest() ?? entry.source
      return read()
    },
  })
}
