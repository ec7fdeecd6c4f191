import { resolve } from 'node:path'
import type { UnknownFieldPolicy } from '../../realm-file/parse-realm.ts'
import { shortenRevision } from '../../reconcile/model/attribution.ts'
import { createAgeKeyFinder } from '../../reconcile/read/age-key-files.ts'
import { readFileSource } from '../../reconcile/read/file-source.ts'
import { type GitAddress, parseGitAddress } from '../../reconcile/read/git-address.ts'
import { type GitSourceOptions, openGitSource } from '../../reconcile/read/git-source.ts'
import type { EnvironmentFiles } from '../../reconcile/read/project-file.ts'
import type { SerializedSource, SourceContent } from '../../reconcile/read/source-content.ts'
import {
  type GivenIdentity,
  locateSource,
  requireChosenEnvironment,
  type SourceLocation,
} from '../../reconcile/read/source-identity.ts'
import { createVariableFilter } from '../../reconcile/read/variable-filter.ts'
import type { RealmSourceRow } from '../../service/context/store-types.ts'
import type { SourceState } from '../../service/sources/source-status.ts'
import { request, type StoreFlags, withConnection } from '../connect.ts'
import { locateNamedSource } from '../inputs/name-source.ts'
import { readSourceSettings } from '../inputs/read-source-settings.ts'
import { openInputs, type SourceInputs } from '../inputs/source-inputs.ts'
import type { SourceSettingsFlags } from '../inputs/source-settings-options.ts'
import { type Format, printTable } from '../print.ts'
import { confirm } from '../prompt.ts'
import { describeSuspension, getLastApply, listSourceStates, summarizeState } from '../source-states.ts'
import { interruptible } from '../terminal/interruption.ts'
import { showProgress, withProgress } from '../terminal/progress.ts'

/** The flags for reading a source. */
export interface SourceFlags extends SourceSettingsFlags {
  readonly name?: string | undefined
  readonly environment?: string | undefined
  readonly unknownFields?: UnknownFieldPolicy | undefined
  readonly allowLockOut?: true
  readonly strict?: true
  readonly variables?: readonly string[] | undefined
  readonly replaceVariables?: true
  readonly ageKeyFile?: string | undefined
}

/** A source that a command has read. */
export interface ReadSource extends SourceContent, SerializedSource {
  /** Its folder, and the folder that names of files are relative to, unless it is in a remote repository. */
  readonly folder?: string
  readonly root?: string | undefined
  /** The variables and overlays of its environment. */
  readonly environment?: EnvironmentFiles | undefined
}

/**
 * Reads a source, or the part of it that paths name: files, folders, `-` for the standard input, or one git URL. It may use only the
 * variables and files that the flags allow.
 */
export async function readSource(paths: readonly string[], flags: SourceFlags): Promise<ReadSource> {
  const identity = readIdentity(flags)
  const settings = readSourceSettings(flags)
  const address = findGitAddress(paths)
  if (address) return { ...(await readGitSource(address, { ...identity, ...toReadOptions(flags) })), settings }
  const opened = await openInputs(paths, (path) => locateNamedSource(path, identity))
  const { name, folder, server } = opened.location
  const content = await readInputs(paths, { ...opened, name }, flags)
  return { ...content, settings, folder, server, root: opened.root, environment: opened.environment }
}

/** Reads the documents at paths or a git URL, for a command that needs no name of the source. */
export async function readDocuments(
  paths: readonly string[],
  flags: SourceFlags,
): Promise<SourceContent & SerializedSource> {
  const { environment } = readIdentity(flags)
  const address = findGitAddress(paths)
  if (address) return readGitSource(address, { ...toReadOptions(flags), environment })
  const opened = await openInputs(paths, async (path) => {
    const location = await locateSource(path, { environment })
    requireChosenEnvironment(location.project, { environment })
    return location
  })
  return readInputs(paths, { ...opened, name: paths.join(', ') }, flags)
}

/** Reads the documents of a source again, from changed texts of its files. */
export function readChangedTexts(
  { name, root = '.', environment }: ReadSource,
  texts: ReadonlyMap<string, string>,
  flags: SourceFlags,
): Promise<SourceContent> {
  const inputs = [...texts].map(([file, text]) => ({ file, bytes: Buffer.from(text), path: resolve(root, file) }))
  return readFileSource(inputs, { ...toReadOptions(flags), name, root, environment })
}

/** Returns the git URL if it is the only path. */
const findGitAddress = ([path, ...otherPaths]: readonly string[]) =>
  path === undefined || otherPaths.length ? undefined : parseGitAddress(path)

function readInputs(
  paths: readonly string[],
  { inputs, name, root, scope, origin, environment }: SourceInputs<SourceLocation> & { readonly name: string },
  flags: SourceFlags,
): Promise<SourceContent & SerializedSource> {
  showProgress({ label: 'Reading files' })
  const options = { ...toReadOptions(flags), name, root, scope, origin, environment, displayName: paths.join(', ') }
  return withProgress(() => readFileSource(inputs, options))
}

/** Returns the identity that flags or environment give. */
function readIdentity({ name, environment }: SourceFlags): GivenIdentity {
  return { name, environment: environment ?? (process.env.REGENT_ENVIRONMENT || undefined) }
}

function toReadOptions({ unknownFields, variables = [], ageKeyFile, replaceVariables }: SourceFlags) {
  const file = ageKeyFile ?? (process.env.REGENT_AGE_KEY_FILE || undefined)
  const findAgeKeys = createAgeKeyFinder({ file, env: process.env })
  const isAllowed = createVariableFilter(variables)
  return { unknownFields, env: process.env, isAllowed, findAgeKeys, replacesPlaceholders: replaceVariables }
}

async function readGitSource(
  address: GitAddress,
  options: GitSourceOptions,
): Promise<SourceContent & SerializedSource> {
  showProgress({ label: 'Reading the repository' })
  return withProgress(() =>
    interruptible(async (signal) => {
      const source = await openGitSource(address, { ...options, signal })
      try {
        return await source.read()
      } finally {
        await source.close()
      }
    }),
  )
}

/** Returns the members of a source that are sent to the server. */
export function serializeSource({
  name,
  revision,
  unknownFields,
  settings,
  scope,
  origin,
  files,
}: SerializedSource): SerializedSource {
  return { name, revision, unknownFields, settings, scope, origin, files }
}

/** Returns the flags that restrict a command to the server of a source. */
export function toStoreFlags(
  { folder, server }: Pick<ReadSource, 'folder' | 'server'>,
  operation: 'plan' | 'apply',
): Pick<StoreFlags, 'projectFolder' | 'required'> {
  return { projectFolder: folder, ...(server !== undefined && { required: { server, operation } }) }
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
export async function forget(source: string, realm: string, flags: StoreFlags & { yes?: true }): Promise<void> {
  const path = `/regent/v1/sources/${encodeURIComponent(realm)}?${new URLSearchParams({ source })}`
  await withConnection(flags, 'fail', async (connection) => {
    await confirm(`This ends the management of the objects that ${source} declares in the realm ${realm}.`, flags)
    await connection.request('DELETE', path)
  })
  console.log(`The objects of ${source} in the realm ${realm} stay and are no longer managed.`)
}

/** `regent source resume` with a realm: ends the suspension by a rollback. */
export async function resume(source: string, realm: string, flags: StoreFlags): Promise<void> {
  const path = `/regent/v1/sources/${encodeURIComponent(realm)}/resume`
  await request(flags, 'POST', `${path}?${new URLSearchParams({ source })}`)
  console.log(`${source} is resumed in the realm ${realm}, from its next apply.`)
}

function toRows(sources: readonly RealmSourceRow[], states: readonly SourceState[]): string[][] {
  const byName = new Map(states.map((state) => [state.name, state]))
  const applied = sources.map((row) => {
    const { source, realm, objects, changed, suspended } = row
    const state = byName.get(source)
    const summary = suspended ? `suspended ${describeSuspension(suspended)}` : state ? summarizeState(state) : ''
    const { revision } = getLastApply(row, state)
    return [source, realm, shortenRevision(revision), String(objects), String(changed), summary]
  })
  const withoutRealm = states.flatMap((state) => {
    const { name, realms, status } = state
    return realms.length
      ? []
      : [[name, '', shortenRevision(status.attempted?.revision ?? ''), '', '', summarizeState(state)]]
  })
  return [...applied, ...withoutRealm]
}
