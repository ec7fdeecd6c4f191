// How sources are doing, and what is wanted of them: `regent source show|suspend|resume|force|rename`.
import { moment, shortened } from '../reconcile/model/attribution.ts'
import type { RollbackSuspension, SourceOfRealm } from '../service/context/store-types.ts'
import type { Attempt, SourceState } from '../service/sources/source-states.ts'
import { request, type StoreFlags } from './connect.ts'

/** How sources are doing, by name. */
export async function states(flags: StoreFlags): Promise<SourceState[]> {
  return (await request(flags, 'GET', '/regent/v1/source-states')) as SourceState[]
}

/** `regent source show`: everything about one source. */
export async function show(source: string, flags: StoreFlags & { output: string }): Promise<void> {
  const found = (await states(flags)).find(({ name }) => name === source)
  if (!found) throw new Error(`there is no source ${source}: "regent source list" shows those that there are`)
  if (flags.output === 'json') return console.log(JSON.stringify(found, null, 2))
  const all = (await request(flags, 'GET', '/regent/v1/sources')) as SourceOfRealm[]
  const own = all.filter((one) => one.source === source)
  console.log(render(found, own))
}

/** `regent source suspend`: it is not read until it is resumed. */
export async function suspend(source: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'suspend', { source })
  console.log(`${source} is not read by any server until "regent source resume ${source}".\nWhat was applied stays.`)
}

/** `regent source resume` without a realm: it goes on everywhere. */
export async function resumeAll(source: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'resume', { source })
  console.log(`${source} goes on: a server that follows it reads it now.`)
}

/** `regent source force`: it is read and applied now. */
export async function force(source: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'force', { source })
  console.log(
    `${source} is read and applied now by the server that follows it.\nHow it went: "regent source show ${source}".`,
  )
}

/** `regent source rename`: what it owns stays its own. */
export async function rename(source: string, to: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'rename', { source, to })
  console.log(
    `${source} is called ${to} now. Call it so wherever it is applied (--name, --sources):\nby its former name no server reads it.`,
  )
}

/** How a source is doing, in a word. */
export function inAWord({ suspended, status: { ready } }: SourceState): string {
  if (suspended?.renamedTo) return `called ${suspended.renamedTo} now`
  if (suspended) return `suspended by ${suspended.by}`
  if (!ready) return ''
  return ready.status === 'True' ? 'ready' : ready.reason
}

/** Since when a rollback suspends a source. */
export function since({ by, revision }: RollbackSuspension): string {
  return `since ${by} rolled back to r${revision}`
}

async function ask(flags: StoreFlags, what: string, query: Record<string, string>): Promise<void> {
  await request(flags, 'POST', `/regent/v1/source-states/${what}?${new URLSearchParams(query)}`)
}

function render({ name, realms, suspended, status }: SourceState, own: readonly SourceOfRealm[]): string {
  const { applied, attempts = [], ready, reconciling, stalled, nextTryAt } = status
  const line = (what: string, says: string) => `  ${what.padEnd(13)}${says}`
  const at = (one: Attempt) => `${shortened(one.revision ?? 'not read')}  ${moment(one.at)}`
  const conditions = Object.entries({ Ready: ready, Reconciling: reconciling, Stalled: stalled })
  return [
    name,
    line('Realms', realms.join(', ') || 'none'),
    ...own.flatMap(({ realm, suspended }) => (suspended ? [line('Suspended', `in ${realm} ${since(suspended)}`)] : [])),
    ...(suspended ? [line('Suspended', `by ${suspended.by} at ${moment(suspended.at)}`)] : []),
    ...(applied ? [line('Applied', at(applied))] : []),
    ...conditions.flatMap(([type, one]) =>
      one ? [line(type, `${one.status} since ${moment(one.since)} (${one.reason})`)] : [],
    ),
    ...(ready?.message ? ready.message.split('\n').map((message) => `    ${message}`) : []),
    ...(nextTryAt ? [line('Next try', moment(nextTryAt))] : []),
    ...(attempts.length ? ['  Last attempts'] : ['  No server has followed it so far.']),
    ...attempts.map((one) => `    ${at(one)}  ${one.message === undefined ? 'applied' : 'not applied'}`),
  ].join('\n')
}
