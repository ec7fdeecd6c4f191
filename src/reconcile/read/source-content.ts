// The content of a source at one revision, and its serialized form.

import type { Json } from '../../kinds/json.ts'
import type { SourceSettings } from '../../kinds/source-settings.ts'
import type { UnknownFieldPolicy } from '../../realm-file/parse-realm.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import type { SourcePermissions } from '../../service/context/source-permissions.ts'
import type { Note } from '../model/action.ts'
import type { Removals } from './removals.ts'

/** The serialized form of a source: the texts of its files, and the values of their variables. */
export interface SerializedSource {
  readonly name: string
  readonly revision: string
  readonly unknownFields?: UnknownFieldPolicy | undefined
  readonly settings?: SourceSettings | undefined
  /** The files and folders that were read. What the other files of the source declare is retained. Default: all of it. */
  readonly scope?: readonly string[] | undefined
  /** The git repository and folder of the files; without a repository, the path of the folder. If it changes, deletions need an approval. */
  readonly origin?: string | undefined
  readonly files: readonly {
    readonly file: string
    readonly text: string
    /** The number of the overlay that the file belongs to, from 1. Absent: it belongs to the base. */
    readonly overlay?: number | undefined
    /** For each document of the file: the values of texts with variables and of encrypted ones, by JSON pointer. */
    readonly values: readonly Readonly<Record<string, Json>>[]
  }[]
}

/** A commit of a git source. */
export interface Commit {
  readonly hash: string
  readonly parents: readonly string[]
  /** Name and email address of its author, and of its committer. */
  readonly authors: readonly (readonly string[])[]
}

/** The documents of a source at one revision, and the settings that apply to them. */
export interface SourceContent {
  readonly name: string
  /** The git commit, or a digest of the files. */
  readonly revision: string
  /** One document per realm and file. */
  readonly documents: readonly Document[]
  /** Parts of the files that were ignored. */
  readonly warnings?: readonly Note[]
  /** Whether fields that Regent does not know are errors or warnings. Default: errors. */
  readonly unknownFields?: UnknownFieldPolicy | undefined
  /** Settings of the source: pruning, drift policies, guards. */
  readonly settings?: SourceSettings | undefined
  /** The only server to which it may be applied, as its project file declares. Absent: any. */
  readonly server?: string | undefined
  /** The git repository and folder of the files; without a repository, the path of the folder. Absent: there are no files. */
  readonly origin?: string | undefined
  /** The last commits, the newest first. Absent: they are unknown. */
  readonly commits?: readonly Commit[] | undefined
  /** The texts that were read, for saved plans. */
  readonly files: SerializedSource['files']
  /** The realms that the source may declare, and the roles that it may grant. The caller's own permissions apply too. */
  readonly sourcePermissions?: SourcePermissions | undefined
  /** The consequences for objects and fields that it no longer declares. Default: they are deleted, unless a guard blocks that. */
  readonly removals?: Removals | undefined
}

/**
 * Returns a source with all other sources that declare the same realms as it does now or did before, directly or through others. A
 * tenant is alone, since its problems must not concern others.
 */
export function listRelatedSources(
  source: SourceContent,
  previous: SourceContent | undefined,
  candidates: readonly SourceContent[],
): SourceContent[] {
  if (isTenant(source)) return [source]
  const owners = candidates.filter((candidate) => !isTenant(candidate))
  const realms = new Set([source, ...(previous ? [previous] : [])].flatMap(listRealms))
  const related = new Set([source])
  for (;;) {
    const next = owners.find(
      (candidate) => !related.has(candidate) && listRealms(candidate).some((realm) => realms.has(realm)),
    )
    if (!next) return [...related]
    related.add(next)
    for (const realm of listRealms(next)) realms.add(realm)
  }
}

const isTenant = ({ sourcePermissions }: SourceContent): boolean => sourcePermissions?.tenant !== undefined

function listRealms({ documents }: SourceContent): string[] {
  return documents.map(({ header: head }) => String(head.realm))
}
