import type { UnknownFields } from '../../realm-file/parse.ts'
import { shortened } from '../../reconcile/model/attribution.ts'
import { allowedBy } from '../../reconcile/read/allowed.ts'
import { type FileSourceOptions, readFileSource } from '../../reconcile/read/file.ts'
import { openGitSource } from '../../reconcile/read/git.ts'
import { gitAddress, shownAddress } from '../../reconcile/read/git-address.ts'
import type { SourceState, SourceText } from '../../reconcile/read/source-state.ts'
import type { SourceOfRealm } from '../../service/context/store-types.ts'
import type { SourceState as Doing } from '../../service/sources/source-states.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printTable } from '../print.ts'
import { settingsOf } from '../settings.ts'
import type { SettingsFlags } from '../settings-flags.ts'
import { inAWord, since, states } from '../source-states.ts'

/** The flags that say how a source is read. */
export interface SourceFlags extends SettingsFlags {
  readonly name?: string | undefined
  readonly unknownFields?: UnknownFields | undefined
  readonly allowLockOut?: true
  readonly variables?: readonly string[] | undefined
}

/** What a file, a folder or a repository states, with those variables and files that the command line allows: others may have written it. */
export async function readSource(named: string, flags: SourceFlags): Promise<SourceState & SourceText> {
  const { name, unknownFields } = flags
  const settings = settingsOf(flags)
  const allowed = allowedBy(flags.variables ?? [])
  return { ...(await stateOf(named, { name, unknownFields, env: process.env, allowed })), settings }
}

async function stateOf(named: string, options: FileSourceOptions): Promise<SourceState & SourceText> {
  const address = gitAddress(named)
  if (!address) return readFileSource(named, options)
  const source = await openGitSource(address, options)
  try {
    return await source.read()
  } finally {
    await source.close()
  }
}

/** What was named as a source, without the credentials that it may hold. */
export function shownSource(named: string): string {
  const address = gitAddress(named)
  return address ? shownAddress(address) : named
}

/** A source as it travels. */
export function wire({ name, revision, unknownFields, settings, files }: SourceText): SourceText {
  return { name, revision, unknownFields, settings, files }
}

/** What the caller says is meant, although it would be refused otherwise. */
export function approvals({ allowLockOut }: SourceFlags): Record<string, string> {
  return allowLockOut ? { 'regent-allow-lock-out': 'true' } : {}
}

/** `regent source list`: which sources have applied to which realms, and those that are followed and have applied nothing. */
export async function list(flags: StoreFlags & { output: Format }): Promise<void> {
  const found = (await request(flags, 'GET', '/regent/v1/sources')) as SourceOfRealm[]
  const doing = flags.output === 'json' ? [] : await states(flags)
  printTable(flags.output, found, {
    head: ['Source', 'Realm', 'Revision', 'Objects', 'Changed', 'State'],
    rows: rowsOf(found, doing),
    none: 'No source has been applied so far.',
    foot: 'Changed: objects that somebody changed since. More of one: "regent source show <source>".',
  })
}

/** `regent source forget`: what the source owns in a realm stays, and nobody states it any more. */
export async function forget(source: string, realm: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'DELETE', `/regent/v1/sources/${encodeURIComponent(realm)}?${new URLSearchParams({ source })}`)
  console.log(`What ${source} stated in the realm ${realm} stays, and belongs to nobody.`)
}

/** `regent source resume`: a suspended source is applied again. */
export async function resume(source: string, realm: string, flags: StoreFlags): Promise<void> {
  const path = `/regent/v1/sources/${encodeURIComponent(realm)}/resume`
  await request(flags, 'POST', `${path}?${new URLSearchParams({ source })}`)
  console.log(`${source} is applied to the realm ${realm} again, from its next apply on.`)
}

function rowsOf(found: readonly SourceOfRealm[], doing: readonly Doing[]): string[][] {
  const words = new Map(doing.map((one) => [one.name, inAWord(one)]))
  const applied = found.map(({ source, realm, revision, objects, changed, suspended }) => {
    const state = suspended ? `suspended ${since(suspended)}` : (words.get(source) ?? '')
    return [source, realm, shortened(revision), String(objects), String(changed), state]
  })
  const others = doing.flatMap((one) => {
    const { name, realms, status } = one
    return realms.length ? [] : [[name, '', shortened(status.attempted?.revision ?? ''), '', '', inAWord(one)]]
  })
  return [...applied, ...others]
}
