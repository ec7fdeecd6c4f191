// The realms that sources declare, each merged from all of its sources.
import { createHash } from 'node:crypto'
import { identical } from '../../kinds/compare.ts'
import type { Json } from '../../kinds/json.ts'
import { address } from '../../kinds/tree.ts'
import { version } from '../../lib/version.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import { byPlace, collect, DocumentError, type Problem } from '../../realm-file/yaml/problem.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import type { GeneratedSecret } from '../../service/sources/generated-secrets.ts'
import type { SourceState } from '../read/source-state.ts'
import { type DesiredRealm, desiredRealms, inOrder } from './desired-realm.ts'
import { nothingStated, type Part, together } from './merge-parts.ts'

/** A realm as its sources declare it together, and the part of each. */
export interface MergedRealm {
  readonly desired: DesiredRealm
  readonly parts: readonly Part[]
}

/** A source with a digest of its declarations for each realm. */
export interface DigestedSource {
  readonly source: SourceState
  readonly digests: ReadonlyMap<string, string>
}

/** The sources of a run, and what they have applied before. */
interface MergeInput {
  readonly sources: readonly DigestedSource[]
  /** What was applied before, by the declared name of the realm. */
  readonly before: ReadonlyMap<string, readonly AppliedSource[]>
  /** Realms that need no merge, since nothing has changed. */
  readonly settled: ReadonlySet<string>
  /** Realms that no source declares any more. */
  readonly removed: readonly string[]
  readonly secret: GeneratedSecret
}

/** Merges the declarations of all sources, in the order in which realms are applied. Throws DocumentError with all problems. */
export function mergeSources(
  service: Service,
  { sources, before, settled, removed, secret }: MergeInput,
): MergedRealm[] {
  const problems: Problem[] = []
  const open = sources.flatMap(({ source, digests }) => {
    const documents = source.documents.filter((one) => digests.has(realmOf(one)) && !settled.has(realmOf(one)))
    const desired = collect(problems, () =>
      desiredRealms(documents, service.vault, source.unknownFields, (realm, name) => secret(source.name, realm, name)),
    ).flat()
    return desired.map((one): [string, Part] => [
      one.name,
      partOf(source, one, digests.get(one.name)!, before.get(one.name)),
    ])
  })
  if (problems.length) throw new DocumentError(byPlace(problems, documentsIn(sources.map(({ source }) => source))))
  const byName = Map.groupBy(open, ([name]) => name)
  const merged = [...byName.keys(), ...removed].map((name) => {
    const stating = byName.get(name)?.map(([, part]) => part) ?? []
    const ended = sources.filter(
      ({ source, digests }) =>
        !digests.has(name) && before.get(name)?.some((one) => one.source === source.name) === true,
    )
    const parts = [...stating, ...ended.map(({ source }) => partOf(source, nothingStated(name), '', before.get(name)))]
    return { parts, desired: together(name, parts, problems) }
  })
  if (problems.length) throw new DocumentError(byPlace(problems, documentsIn(sources.map(({ source }) => source))))
  return merged.sort((a, b) => inOrder(a.desired.name, b.desired.name))
}

/**
 * Returns the former names of realms that are declared with one and still have it, by their declared names. Throws forbidden if
 * the caller or a source may not administer such a realm. Two statements, or none.
 */
export async function renamedRealms(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  all: readonly Pick<MergedRealm, 'desired'>[],
): Promise<ReadonlyMap<string, string>> {
  const former = all.flatMap(({ desired: { name, objects } }) => {
    const renamedFrom = objects.get(address('realm', [name]))?.renamedFrom
    return renamedFrom === undefined ? [] : [[name, renamedFrom] as const]
  })
  if (!former.length) return new Map()
  await service.demand(
    caller,
    'administer-realm',
    former.map(([, name]) => name),
  )
  for (const [name, renamedFrom] of former) {
    const beyond = sources.find(({ ceiling: { realms } = {} }) => realms && !realms.includes(renamedFrom))
    if (!beyond) continue
    const { position } = all
      .find(({ desired }) => desired.name === name)!
      .desired.objects.get(address('realm', [name]))!.origin
    throw new DocumentError([{ position, message: beyondLimit(beyond, renamedFrom) }])
  }
  const there = new Set((await service.realms()).map(({ name }) => name))
  return new Map(former.filter(([name, renamedFrom]) => !there.has(name) && there.has(renamedFrom)))
}

function partOf(
  { name, revision, settings = {}, unstated }: SourceState,
  desired: DesiredRealm,
  digest: string,
  before: readonly AppliedSource[] = [],
): Part {
  const last = before.find(({ source }) => source === name)
  const resettled = last !== undefined && !identical(last.settings as Json, settings as Json)
  return { source: name, revision, digest, desired, settings, resettled, unstated }
}

/** The documents of all sources. */
export function documentsIn(sources: readonly SourceState[]): Document[] {
  return sources.flatMap(({ documents }) => documents)
}

/** Throws DocumentError if a source declares a realm that its permissions do not include. */
export function demandAllowedRealms(sources: readonly SourceState[]): void {
  const beyond = sources.flatMap((source) =>
    source.documents
      .filter((one) => source.ceiling?.realms && !source.ceiling.realms.includes(realmOf(one)))
      .map((one) => ({
        position: one.start,
        message: beyondLimit(source, realmOf(one)),
      })),
  )
  if (beyond.length) throw new DocumentError(beyond)
}

function beyondLimit({ name, ceiling }: SourceState, realm: string): string {
  return `the source ${name} may not touch the realm ${realm}: its limit is ${ceiling!.realms!.join(', ') || 'none'}`
}

/** Returns by realm a digest of everything that decides what a run does: documents, settings of the source, Regent's version. */
export function digestsOf(service: Service, source: SourceState): ReadonlyMap<string, string> {
  const digest = (documents: readonly Document[]) =>
    service.vault.digest(
      createHash('sha256')
        .update(
          JSON.stringify([
            ...[version, source.unknownFields, documents.map(digestOf), source.ceiling, source.settings],
            ...(source.unstated?.kept ?? []),
          ]),
        )
        .digest('hex'),
    )
  return new Map([...Map.groupBy(source.documents, realmOf)].map(([realm, documents]) => [realm, digest(documents)]))
}

function digestOf({ file, start, digest, states }: Document): unknown[] {
  return [file, start.line, digest, states]
}

/** Returns the name of the realm that a document declares. */
export function realmOf({ head }: Document): string {
  return String(head.realm)
}
