// The states of sources, and the commands that change them: `regent source show|suspend|resume|force|rename`.
import { formatTime, shortenRevision } from '../reconcile/model/attribution.ts'
import type { RealmSourceRow, RollbackSuspension } from '../service/context/store-types.ts'
import type {
  RESOURCES_NOT_READY,
  SourceAttempt,
  SourceOutcome,
  SourceState,
} from '../service/sources/source-status.ts'
import { connect, request, type StoreFlags } from './connect.ts'

/** Lists the states of all sources, in the order of their names. */
export async function listSourceStates(flags: StoreFlags): Promise<SourceState[]> {
  return request(flags, 'GET', '/regent/v1/source-states')
}

/** `regent source show`: prints everything about one source. */
export async function show(source: string, flags: StoreFlags & { output: string }): Promise<void> {
  const state = (await listSourceStates(flags)).find(({ name }) => name === source)
  if (!state) throw new Error(`There is no source ${source}. "regent source list" shows all sources.`)
  if (flags.output === 'json') return console.log(JSON.stringify(state, null, 2))
  const all = (await request(flags, 'GET', '/regent/v1/sources')) as RealmSourceRow[]
  const realms = all.filter((realm) => realm.source === source)
  console.log(renderSource(state, realms))
}

/** `regent source suspend`: suspends a source until it is resumed. */
export async function suspend(source: string, flags: StoreFlags): Promise<void> {
  await requestAction(flags, 'suspend', { source })
  console.log(`${source} is suspended on all servers until "regent source resume ${source}".\nIts objects stay.`)
}

/** `regent source resume` without a realm: resumes a source. */
export async function resumeAll(source: string, flags: StoreFlags): Promise<void> {
  const connection = await connect(flags)
  try {
    const states = await connection.request<SourceState[]>('GET', '/regent/v1/source-states')
    const realms = await connection.request<RealmSourceRow[]>('GET', '/regent/v1/sources')
    const state = states.find(({ name }) => name === source)
    const wasSuspended = [state, ...realms.filter((realm) => realm.source === source)].some((row) => row?.suspended)
    await connection.request('POST', toActionPath('resume', { source }))
    const next = state?.status.attempted ? 'A server that follows it reads it now.' : 'Apply it with "regent apply".'
    console.log(wasSuspended ? `${source} is resumed. ${next}` : `${source} was not suspended.`)
  } finally {
    await connection.close()
  }
}

/** `regent source force`: has a server reconcile a source now. */
export async function force(source: string, flags: StoreFlags): Promise<void> {
  await requestAction(flags, 'force', { source })
  console.log(`The server that follows ${source} reconciles it now.\n"regent source show ${source}" shows the outcome.`)
}

/** `regent source rename`: renames a source, which keeps its objects. */
export async function rename(source: string, to: string, flags: StoreFlags): Promise<void> {
  await requestAction(flags, 'rename', { source, to })
  console.log(
    `${source} is renamed to ${to}. Use the new name in --name and in the file of --sources:\na server that still uses ${source} does not read the source.`,
  )
}

/**
 * Returns the last apply of a source to a realm. A server reports a revision without changes in the status only, a command in the
 * record of the realm only.
 */
export function getLastApply(
  { revision, appliedAt }: RealmSourceRow,
  state: SourceState | undefined,
): { readonly revision: string; readonly at: string } {
  const recorded = { revision, at: String(appliedAt) }
  const { revision: reported, at } = state?.status.applied ?? {}
  return reported !== undefined && at !== undefined && at > recorded.at ? { revision: reported, at } : recorded
}

/** Returns the state of a source in a few words. */
export function summarizeState({ suspended, status: { ready } }: SourceState): string {
  if (suspended?.renamedTo) return `renamed to ${suspended.renamedTo}`
  if (suspended) return `suspended by ${suspended.by}`
  if (!ready) return ''
  return ready.status === 'True' ? 'ready' : (OUTCOME_TEXTS[ready.reason] ?? ready.reason)
}

/** The outcomes of attempts in a few words. */
const OUTCOME_TEXTS: Readonly<Record<string, string>> = {
  Applied: 'applied',
  Refused: 'refused',
  Retrying: 'failed, is retried',
  RolledBack: 'suspended by a rollback',
  PendingApproval: 'pending approval',
  DependencyNotReady: 'dependency not applied yet',
  ResourcesNotReady: 'resources not ready',
} satisfies Record<SourceOutcome | typeof RESOURCES_NOT_READY, string>

/** Describes the rollback that suspends a source. */
export function describeSuspension({ by, revision }: RollbackSuspension): string {
  return `since ${by} rolled back to r${revision}`
}

async function requestAction(flags: StoreFlags, action: string, query: Record<string, string>): Promise<void> {
  await request(flags, 'POST', toActionPath(action, query))
}

function toActionPath(action: string, query: Record<string, string>): string {
  return `/regent/v1/source-states/${action}?${new URLSearchParams(query)}`
}

function renderSource(state: SourceState, ownRealms: readonly RealmSourceRow[]): string {
  const { name, realms, suspended, status } = state
  const { attempts = [], ready, reconciling, stalled, nextTryAt } = status
  const line = (label: string, text: string) => `  ${label.padEnd(13)}${text}`
  const renderAttempt = (attempt: SourceAttempt) =>
    `${shortenRevision(attempt.revision ?? 'no revision')}  ${formatTime(attempt.at)}`
  const conditions = Object.entries({ Ready: ready, Reconciling: reconciling, Stalled: stalled })
  return [
    name,
    line('Realms', realms.join(', ') || 'none'),
    ...ownRealms.map((row) => {
      const { revision, at } = getLastApply(row, state)
      return line('Applied', `${shortenRevision(revision)}  ${formatTime(at)} to ${row.realm}`)
    }),
    ...ownRealms.flatMap(({ realm, suspended }) =>
      suspended ? [line('Suspended', `in ${realm} ${describeSuspension(suspended)}`)] : [],
    ),
    ...(suspended ? [line('Suspended', `by ${suspended.by} at ${formatTime(suspended.at)}`)] : []),
    ...conditions.flatMap(([type, condition]) =>
      condition ? [line(type, `${condition.status} since ${formatTime(condition.since)} (${condition.reason})`)] : [],
    ),
    ...(ready?.message ? ready.message.split('\n').map((message) => `    ${message}`) : []),
    ...(nextTryAt ? [line('Next try', formatTime(nextTryAt))] : []),
    ...(attempts.length ? ['  Last attempts'] : ['  No server has reconciled it so far.']),
    ...attempts.map(
      (attempt) => `    ${renderAttempt(attempt)}  ${attempt.message === undefined ? 'applied' : 'not applied'}`,
    ),
  ].join('\n')
}
