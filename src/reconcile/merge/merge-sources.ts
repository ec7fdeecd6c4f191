// Merges the declarations of all sources of a run into one desired realm per realm.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { memoizeByObject } from '../../lib/timing/memoize.ts'
import { version } from '../../lib/version.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import { collectProblems, DocumentError, type DocumentProblem, sortByPosition } from '../../realm-file/yaml/problem.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { findTenantPermissions } from '../../service/context/source-permissions.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import type { GetGeneratedSecret } from '../../service/sources/generated-secrets.ts'
import type { SourceContent } from '../read/source-content.ts'
import type { DesiredObject } from './desired-object.ts'
import { compareRealmNames, type DesiredRealm, readDesiredRealms } from './desired-realm.ts'
import { createEmptyRealm, mergeParts, type SourcePart } from './merge-parts.ts'

/** The sources of a run, and the caller who starts it. */
export interface RunInput {
  readonly service: Service
  readonly caller: Caller
  readonly sources: readonly SourceContent[]
  /** Limits the run to these realms, by their declared names. */
  readonly only?: ReadonlySet<string> | undefined
  /** Realms of which the store may lack objects: references to these are noted instead of refused. Default: none. */
  readonly incompleteRealms?: ReadonlySet<string> | undefined
  /** Returns the paths of declared values of an object that are not compared, since the live ones are unknown. Default: none. */
  readonly listIncomparable?: ((realm: string, object: DesiredObject) => readonly string[]) | undefined
  /** Whether declared values that are not enforced are errors. */
  readonly strict?: boolean | undefined
  /** The permission that the caller needs in each realm. Default: to administer it. */
  readonly permission?: 'administer-realm' | 'plan-changes'
}

/** A realm as its sources declare it together, and the part of each. */
export interface MergedRealm {
  readonly desired: DesiredRealm
  readonly parts: readonly SourcePart[]
}

/** A source with a digest of its declarations for each realm. */
export interface DigestedSource {
  readonly source: SourceContent
  readonly digests: ReadonlyMap<string, string>
}

/** The sources of a run, and what was applied before. */
interface MergeInput {
  readonly sources: readonly DigestedSource[]
  /** The sources that were applied before, by the declared name of the realm. */
  readonly before: ReadonlyMap<string, readonly AppliedSource[]>
  /** The realms that need no merge, since nothing has changed. */
  readonly unchanged: ReadonlySet<string>
  /** The realms that no source declares any more. */
  readonly removed: readonly string[]
  readonly getSecret: GetGeneratedSecret
}

/** Merges the declarations of all sources, in the order in which realms are applied. Throws DocumentError with all problems. */
export function mergeSources(service: Service, input: MergeInput): MergedRealm[] {
  const { sources, before, removed } = input
  const problems: DocumentProblem[] = []
  const throwProblems = () => {
    if (problems.length)
      throw new DocumentError(sortByPosition(problems, listDocuments(sources.map(({ source }) => source))))
  }
  const parts = sources.flatMap((source) => readParts(service, { ...input, source, problems }))
  throwProblems()
  const byRealm = Map.groupBy(parts, ({ desired }) => desired.name)
  const merged = [...byRealm.keys(), ...removed].map((name) => {
    const ofRealm = [...(byRealm.get(name) ?? []), ...listEndedParts(name, sources, before.get(name))]
    return { parts: ofRealm, desired: mergeParts(name, ofRealm, problems) }
  })
  throwProblems()
  return merged.sort((a, b) => compareRealmNames(a.desired.name, b.desired.name))
}

/** Reads the changed realms that a source declares. */
function readParts(
  service: Service,
  {
    source: { source, digests },
    unchanged,
    before,
    getSecret,
    problems,
  }: MergeInput & { readonly source: DigestedSource; readonly problems: DocumentProblem[] },
): SourcePart[] {
  const documents = source.documents.filter((document) => {
    const realm = getRealmName(document)
    return digests.has(realm) && !unchanged.has(realm)
  })
  const realms = collectProblems(problems, () =>
    readDesiredRealms(documents, {
      vault: service.vault,
      unknownFields: source.unknownFields,
      generateSecret: (realm, name) => getSecret(source.name, realm, name),
    }),
  ).flat()
  return realms.map((desired) =>
    toPart(source, desired, { digest: digests.get(desired.name)!, before: before.get(desired.name) }),
  )
}

/** Returns empty parts for the sources that were applied to a realm and declare nothing of it any more. */
function listEndedParts(
  name: string,
  sources: readonly DigestedSource[],
  before: readonly AppliedSource[] | undefined,
): SourcePart[] {
  return sources
    .filter(({ source, digests }) => !digests.has(name) && before?.some((applied) => applied.source === source.name))
    .map(({ source }) => toPart(source, createEmptyRealm(name), { digest: '', before }))
}

function toPart(
  { name, revision, settings = {}, removals, origin, sourcePermissions }: SourceContent,
  desired: DesiredRealm,
  { digest, before = [] }: { readonly digest: string; readonly before: readonly AppliedSource[] | undefined },
): SourcePart {
  const last = before.find(({ source }) => source === name)
  const hasNewSettings = last !== undefined && !isDeepStrictEqual(last.settings, settings)
  const { origin: lastOrigin } = last ?? {}
  const formerOrigin = lastOrigin != null && origin !== undefined && lastOrigin !== origin ? lastOrigin : undefined
  // A caller of the API names a source without its permissions: those of its last apply remain.
  const tenant = sourcePermissions
    ? findTenantPermissions(sourcePermissions, desired.name)
    : (last?.tenant ?? undefined)
  return {
    ...{ source: name, revision, digest, settings, tenant, isNew: !last, hasNewSettings, removals },
    desired: tenant ? toTenantDeclarations(desired) : desired,
    ...{ origin, formerOrigin },
  }
}

/**
 * Returns the declarations of a tenant. It refers to the realm by its name, without declaring it, and shares the lists of the realm with
 * others, so that none of them is authoritative.
 */
function toTenantDeclarations(desired: DesiredRealm): DesiredRealm {
  const lists = desired.lists.filter(({ kind, parentKey }) => parentKey.length && kinds[kind].parentField === undefined)
  const address = formatAddress('realm', [desired.name])
  const realm = desired.objects.get(address)
  const isNamed = realm?.fields.size === 1 && realm.fields.has(kinds.realm.naturalKey) && !realm.renamedFrom
  if (!isNamed) return { ...desired, lists }
  const objects = new Map([...desired.objects].filter(([key]) => key !== address))
  return { ...desired, lists, objects, realmReference: realm.origin.position }
}

/**
 * Returns the former names of renamed realms that still have them, by their declared names. Throws Forbidden or DocumentError if the
 * caller lacks the permission in the realm of that name, or a source may not declare it. Two statements, or none.
 */
export async function findRenamedRealms(
  { service, caller, sources, permission = 'administer-realm' }: RunInput,
  merged: readonly Pick<MergedRealm, 'desired'>[],
): Promise<ReadonlyMap<string, string>> {
  const renames = merged.flatMap(({ desired: { name, objects } }) => {
    const realm = objects.get(formatAddress('realm', [name]))
    return realm?.renamedFrom === undefined
      ? []
      : [{ name, former: realm.renamedFrom, position: realm.origin.position }]
  })
  if (!renames.length) return new Map()
  await service.requirePermission(
    caller,
    permission,
    renames.map(({ former }) => former),
  )
  for (const { former, position } of renames) {
    const source = sources.find((candidate) => !isPermitted(candidate, former))
    if (source) throw new DocumentError([{ position, message: describeRefusal(source, former) }])
  }
  const existing = new Set((await service.listRealms()).map(({ name }) => name))
  return new Map(
    renames
      .filter(({ name, former }) => !existing.has(name) && existing.has(former))
      .map(({ name, former }) => [name, former]),
  )
}

/** Returns the documents of all sources. */
export function listDocuments(sources: readonly SourceContent[]): Document[] {
  return sources.flatMap(({ documents }) => documents)
}

/** Throws DocumentError if a source declares a realm that its permissions do not include. */
export function requirePermittedRealms(sources: readonly SourceContent[]): void {
  const problems = sources.flatMap((source) =>
    source.documents
      .filter((document) => !isPermitted(source, getRealmName(document)))
      .map((document) => ({ position: document.start, message: describeRefusal(source, getRealmName(document)) })),
  )
  if (problems.length) throw new DocumentError(problems)
}

function isPermitted({ sourcePermissions: { realms } = {} }: SourceContent, realm: string): boolean {
  return !realms || realms.includes(realm)
}

function describeRefusal({ name, sourcePermissions: { realms = [] } = {} }: SourceContent, realm: string): string {
  return `source ${name} is not permitted to declare realm ${realm}. Permitted realms: ${realms.join(', ') || 'none'}.`
}

/**
 * Returns a digest of everything that decides what a run does, by realm: documents, settings and permissions of the source, and
 * Regent's version.
 */
export function digestByRealm(service: Service, source: SourceContent): ReadonlyMap<string, string> {
  const digest = (documents: readonly Document[]) => {
    const { unknownFields, sourcePermissions, settings, removals } = source
    const parts = [version, unknownFields, documents.map(toDigestInput), sourcePermissions, settings]
    const scope = removals?.scope === undefined ? [] : [{ scope: removals.scope }]
    const text = JSON.stringify([...parts, ...(removals?.retained ?? []), ...scope])
    return service.vault.digest(createHash('sha256').update(text).digest('hex'))
  }
  return new Map(
    [...Map.groupBy(source.documents, getRealmName)].map(([realm, documents]) => [realm, digest(documents)]),
  )
}

const toDigestInput = memoizeByObject((document: Document): unknown[] => {
  const { file, start, digest, objectPaths: states } = document
  // The inventory seals a value once its file encrypts it.
  const encrypted = document.isEncrypted([]) ? listEncryptedPaths(document, document.value) : []
  return [file, start.line, digest, states, ...encrypted]
})

function listEncryptedPaths({ isEncrypted }: Pick<Document, 'isEncrypted'>, value: Json): DocumentPath[] {
  const list = (path: DocumentPath, member: Json): DocumentPath[] => {
    if (!isEncrypted(path)) return []
    const members = Object.entries(typeof member === 'object' ? (member ?? {}) : {})
    return [path, ...members.flatMap(([name, below]) => list([...path, name], below))]
  }
  return list([], value)
}

/** Returns the name of the realm that a document declares. */
export function getRealmName({ header: head }: Document): string {
  return String(head.realm)
}
