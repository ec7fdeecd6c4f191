import Table from 'cli-table3'
import type { UnknownFields } from '../realm-file/parse.ts'
import { type FileSourceOptions, readFileSource } from '../reconcile/sources/file.ts'
import { openGitSource } from '../reconcile/sources/git.ts'
import { gitAddress, shownAddress } from '../reconcile/sources/git-address.ts'
import type { SourceText } from '../reconcile/sources/text.ts'
import type { SourceState } from '../reconcile/wanted.ts'
import type { SourceState as Doing } from '../service/source-states.ts'
import type { SourceOfRealm } from '../service/sources.ts'
import { request, type StoreFlags } from './connect.ts'
import { settingsOf } from './settings.ts'
import type { SettingsFlags } from './settings-flags.ts'
import { inAWord, states } from './source-states.ts'

/** The flags that say how a source is read. */
export interface SourceFlags extends SettingsFlags {
  readonly name?: string | undefined
  readonly unknownFields?: UnknownFields | undefined
  readonly allowLockOut?: true
}

/** What a file, a folder or a repository states, with the variables of this process: whoever runs a command may read what they may read. */
export async function readSource(named: string, flags: SourceFlags): Promise<SourceState & SourceText> {
  const { name, unknownFields } = flags
  const settings = settingsOf(flags)
  return { ...(await stateOf(named, { name, unknownFields, env: process.env, allowed: () => true })), settings }
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

/** `regent source list`: which sources have applied to which realms. */
export async function list(flags: StoreFlags & { output: string }): Promise<void> {
  const found = (await request(flags, 'GET', '/regent/v1/sources')) as SourceOfRealm[]
  if (flags.output === 'json') return console.log(JSON.stringify(found, null, 2))
  const doing = await states(flags)
  console.log(found.length + doing.length ? render(found, doing) : 'No source has been applied so far.')
}

/** `regent source forget`: what the source owns in a realm stays, and nobody states it any more. */
export async function forget(source: string, realm: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'DELETE', `/regent/v1/sources/${encodeURIComponent(realm)}?${new URLSearchParams({ source })}`)
  console.log(`What ${source} stated in the realm ${realm} stays, and belongs to nobody.`)
}

/** `regent source resume`: a source that was held goes on with its next apply. */
export async function resume(source: string, realm: string, flags: StoreFlags): Promise<void> {
  const path = `/regent/v1/sources/${encodeURIComponent(realm)}/resume`
  await request(flags, 'POST', `${path}?${new URLSearchParams({ source })}`)
  console.log(`${source} is applied to the realm ${realm} again, from its next apply on.`)
}

function render(found: readonly SourceOfRealm[], doing: readonly Doing[]): string {
  const words = new Map(doing.map((one) => [one.name, inAWord(one)]))
  const head = ['Source', 'Realm', 'Revision', 'Objects', 'Changed', 'State']
  const table = new Table({ head, style: { head: [], border: [] }, wordWrap: true })
  for (const { source, realm, revision, objects, changed, held } of found)
    table.push([
      source,
      realm,
      revision,
      objects,
      changed,
      held ? `held since ${held.by} went back to r${held.revision}` : (words.get(source) ?? ''),
    ])
  for (const one of doing.filter(({ realms, status }) => !realms.length && status.ready))
    table.push([one.name, '', one.status.attempted?.revision ?? '', '', '', inAWord(one)])
  return table.toString()
}
