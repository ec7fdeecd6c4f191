// How sources are doing, and what is wanted of them: `regent source show|suspend|resume|force|rename`.
import type { SourceState } from '../service/source-states.ts'
import { request, type StoreFlags } from './connect.ts'

/** How sources are doing, by name. */
export async function states(flags: StoreFlags): Promise<SourceState[]> {
  return (await request(flags, 'GET', '/regent/v1/source-states')) as SourceState[]
}

/** `regent source show`: everything about one source. */
export async function show(source: string, flags: StoreFlags & { output: string }): Promise<void> {
  const found = (await states(flags)).find(({ name }) => name === source)
  if (!found) throw new Error(`there is no source ${source}: "regent source list" shows those that there are`)
  console.log(flags.output === 'json' ? JSON.stringify(found, null, 2) : render(found))
}

/** `regent source suspend`: it is not read until it is resumed. */
export async function suspend(source: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'suspend', { source })
  console.log(`${source} is not read until "regent source resume ${source}"; what was applied stays.`)
}

/** `regent source resume` without a realm: it goes on everywhere. */
export async function resumeAll(source: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'resume', { source })
  console.log(`${source} goes on: the server that follows it reads it now.`)
}

/** `regent source force`: it is read and applied now. */
export async function force(source: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'force', { source })
  console.log(
    `The server that follows ${source} reads and applies it now; "regent source show ${source}" tells how it went.`,
  )
}

/** `regent source rename`: what it owns stays its own. */
export async function rename(source: string, to: string, flags: StoreFlags): Promise<void> {
  await ask(flags, 'rename', { source, to })
  console.log(`${source} is called ${to} now. Call it so wherever it is applied (--name, --sources).`)
}

/** How a source is doing, in a word. */
export function inAWord({ suspended, status: { ready } }: SourceState): string {
  if (suspended) return `suspended by ${suspended.by}`
  if (!ready) return ''
  return ready.status === 'True' ? 'ready' : ready.reason
}

async function ask(flags: StoreFlags, what: string, query: Record<string, string>): Promise<void> {
  await request(flags, 'POST', `/regent/v1/source-states/${what}?${new URLSearchParams(query)}`)
}

function render({ name, realms, suspended, status }: SourceState): string {
  const { applied, attempts = [], ready, reconciling, stalled, nextTryAt } = status
  const conditions = Object.entries({ Ready: ready, Reconciling: reconciling, Stalled: stalled })
  return [
    name,
    `  Realms:     ${realms.join(', ') || 'none'}`,
    ...(suspended ? [`  Suspended:  by ${suspended.by} at ${suspended.at}`] : []),
    ...(applied ? [`  Applied:    ${applied.revision} at ${applied.at}`] : []),
    ...conditions.flatMap(([type, one]) =>
      one ? [`  ${`${type}:`.padEnd(12)}${one.status} since ${one.since} (${one.reason})`] : [],
    ),
    ...(nextTryAt ? [`  Next try:   ${nextTryAt}`] : []),
    ...(ready?.message ? ready.message.split('\n').map((line) => `    ${line}`) : []),
    ...(attempts.length ? ['  Last attempts:'] : ['  No server has followed it so far.']),
    ...attempts.map(
      ({ at, revision, message }) => `    ${at}  ${revision ?? 'not read'}  ${message?.split('\n')[0] ?? 'applied'}`,
    ),
  ].join('\n')
}
