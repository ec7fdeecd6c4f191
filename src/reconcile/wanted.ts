// What sources state of each realm, taken together: what is wanted of it.
import { createHash } from 'node:crypto'
import { identical } from '../kinds/compare.ts'
import type { Json } from '../kinds/fields.ts'
import { address } from '../kinds/tree.ts'
import { version } from '../lib/version.ts'
import type { Document } from '../realm-file/document.ts'
import type { UnknownFields } from '../realm-file/parse.ts'
import { byPlace, collect, DocumentError, type Problem } from '../realm-file/problem.ts'
import type { GeneratedSecret } from '../service/generated-secrets.ts'
import type { Ceiling } from '../service/power.ts'
import type { Caller, Service } from '../service/service.ts'
import type { SourceSettings } from '../service/source-settings.ts'
import type { AppliedSource, Held } from '../service/sources.ts'
import type { Note } from './action.ts'
import { type DesiredRealm, desiredRealms, inOrder } from './desired.ts'
import { nothingStated, type Part, together } from './parts.ts'
import type { SourceText } from './sources/text.ts'
import type { Unstated } from './unstated.ts'

/** What a source states at one moment. */
export interface SourceState {
  readonly name: string
  /** A git commit, or a digest of the files. */
  readonly revision: string
  /** In the form of a realm. */
  readonly documents: readonly Document[]
  /** What was left out when it was read. */
  readonly notices?: readonly Note[]
  /** What becomes of fields that Regent does not know; absent: an error. */
  readonly unknownFields?: UnknownFields | undefined
  /** What it settles about itself. */
  readonly settings?: SourceSettings | undefined
  /** The texts that were read: a plan that waits keeps them. */
  readonly files: SourceText['files']
  /** What it may touch, and give at most, besides what the caller may. */
  readonly ceiling?: Ceiling | undefined
  /** What becomes of what it states no more. */
  readonly unstated?: Unstated | undefined
}

/** A realm that is stated, what each source states of it, and the name by which it is found. */
export interface Wanted {
  readonly desired: DesiredRealm
  readonly parts: readonly Part[]
  readonly calledNow: string
  /** Somebody went back to an earlier revision of it. */
  readonly held: Held | undefined
}

export type Digests = readonly { readonly source: SourceState; readonly digests: ReadonlyMap<string, string> }[]

/**
 * What the sources state together of each realm that is not settled, and nothing of those that are stated no more. Throws DocumentError with
 * everything that is wrong.
 */
export function statedTogether(
  service: Service,
  sources: Digests,
  before: ReadonlyMap<string, readonly AppliedSource[]>,
  settled: ReadonlySet<string>,
  secret: GeneratedSecret,
  gone: readonly string[],
): Omit<Wanted, 'calledNow' | 'held'>[] {
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
  const wanted = [...byName.keys(), ...gone].map((name) => {
    const stating = byName.get(name)?.map(([, part]) => part) ?? []
    const ended = sources.filter(
      ({ source, digests }) =>
        !digests.has(name) && before.get(name)?.some((one) => one.source === source.name) === true,
    )
    const parts = [...stating, ...ended.map(({ source }) => partOf(source, nothingStated(name), '', before.get(name)))]
    return { parts, desired: together(name, parts, problems) }
  })
  if (problems.length) throw new DocumentError(byPlace(problems, documentsIn(sources.map(({ source }) => source))))
  return wanted.sort((a, b) => inOrder(a.desired.name, b.desired.name))
}

/** Realms that are stated with the name that they had, and have it still: who renames one must be let into it. Two statements, or none. */
export async function renamedRealms(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  all: readonly Pick<Wanted, 'desired'>[],
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

export function documentsIn(sources: readonly SourceState[]): Document[] {
  return sources.flatMap(({ documents }) => documents)
}

/** Throws DocumentError where a source states a realm that it may not touch. */
export function refuseBeyond(sources: readonly SourceState[]): void {
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

/** By realm, everything that decides what a run does: the documents that state it, the source's settings, and Regent's version. */
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

/** The name as it stands there; a document without one is refused when it is taken apart. */
export function realmOf({ head }: Document): string {
  return String(head.realm)
}
