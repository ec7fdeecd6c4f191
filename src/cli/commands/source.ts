import type { UnknownFieldPolicy } from '../../realm-file/parse-realm.ts'
import { shortenRevision } from '../../reconcile/model/attribution.ts'
import { type FileSourceOptions, readFileSource } from '../../reconcile/read/file-source.ts'
import { parseGitAddress, renderGitAddress } from '../../reconcile/read/git-address.ts'
import { openGitSource } from '../../reconcile/read/git-source.ts'
import type { SerializedSource, SourceContent } from '../../reconcile/read/source-content.ts'
import { createVariableFilter } from '../../reconcile/read/variable-filter.ts'
import type { RealmSourceRow } from '../../service/context/store-types.ts'
import type { SourceState } from '../../service/sources/source-status.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printTable } from '../print.ts'
import { readSourceSettings } from '../read-source-settings.ts'
import type { SourceSettingsFlags } from '../source-settings-options.ts'
import { describeSuspension, listSourceStates, summarizeState } from '../source-states.ts'

/** The flags for reading a source. */
export interface SourceFlags extends SourceSettingsFlags {
  readonly name?: string | undefined
  readonly unknownFields?: UnknownFieldPolicy | undefined
  readonly allowLockOut?: true
  readonly variables?: readonly string[] | undefined
}

/** Reads the documents of a file, folder or git URL. They may use only the variables and files that the flags allow. */
export async function readSource(location: string, flags: SourceFlags): Promise<SourceContent & SerializedSource> {
  const { name, unknownFields } = flags
  const settings = readSourceSettings(flags)
  const allowed = createVariableFilter(flags.variables ?? [])
  return { ...(await readContent(location, { name, unknownFields, env: process.env, isAllowed: allowed })), settings }
}

async function readContent(location: string, options: FileSourceOptions): Promise<SourceContent & SerializedSource> {
  const address = parseGitAddress(location)
  if (!address) return readFileSource(location, options)
  const source = await openGitSource(address, options)
  try {
    return await source.read()
  } finally {
    await source.close()
  }
}

/** Returns the location of a source without credentials. */
export function withoutCredentials(location: string): string {
  const address = parseGitAddress(location)
  return address ? renderGitAddress(address) : location
}

/** Returns the members of a source that are sent to the server. */
export function serializeSource({
  name,
  revision,
  unknownFields,
  settings,
  files,
}: SerializedSource): SerializedSource {
  return { name, revision, unknownFields, settings, files }
}

/** Returns the headers that permit what would be refused otherwise. */
export function toApprovalHeaders({ allowLockOut }: SourceFlags): Record<string, string> {
  return allowLockOut ? { 'regent-allow-lock-out': 'true' } : {}
}

/** `regent source list`: lists sources by realm, including those that have not been applied yet. */
export async function list(flags: StoreFlags & { output: Format }): Promise<void> {
  const sources = await request<RealmSourceRow[]>(flags, 'GET', '/regent/v1/sources')
  const states = flags.output === 'json' ? [] : await listSourceStates(flags)
  printTable(flags.output, sources, {
    head: ['Source', 'Realm', 'Revision', 'Objects', 'Changed', 'State'],
    rows: toRows(sources, states),
    none: 'No source has been applied so far.',
    foot: 'Changed: objects changed since the last apply. "regent source show <source>" shows more.',
  })
}

/** `regent source forget`: stops managing the objects of a source in a realm, without deleting them. */
export async function forget(source: string, realm: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'DELETE', `/regent/v1/sources/${encodeURIComponent(realm)}?${new URLSearchParams({ source })}`)
  console.log(`The objects of ${source} in the realm ${realm} stay and are no longer managed.`)
}

/** `regent source resume` with a realm: ends the suspension by a rollback. */
export async function resume(source: string, realm: string, flags: StoreFlags): Promise<void> {
  const path = `/regent/v1/sources/${encodeURIComponent(realm)}/resume`
  await request(flags, 'POST', `${path}?${new URLSearchParams({ source })}`)
  console.log(`${source} is resumed in the realm ${realm}, from its next apply.`)
}

function toRows(sources: readonly RealmSourceRow[], states: readonly SourceState[]): string[][] {
  const summaries = new Map(states.map((state) => [state.name, summarizeState(state)]))
  const applied = sources.map(({ source, realm, revision, objects, changed, suspended }) => {
    const state = suspended ? `suspended ${describeSuspension(suspended)}` : (summaries.get(source) ?? '')
    return [source, realm, shortenRevision(revision), String(objects), String(changed), state]
  })
  const withoutRealm = states.flatMap((state) => {
    const { name, realms, status } = state
    return realms.length
      ? []
      : [[name, '', shortenRevision(status.attempted?.revision ?? ''), '', '', summarizeState(state)]]
  })
  return [...applied, ...withoutRealm]
}
