// Revisions of a realm: `regent history`, `rollback`, and `diff` between revisions.

import type { RealmOutcome } from '../../reconcile/execute/realm-outcome.ts'
import { type Action, FORMAT_VERSION } from '../../reconcile/model/action.ts'
import { formatTime, getActorName, shortenRevision } from '../../reconcile/model/attribution.ts'
import { renderMarkdownActions } from '../../reconcile/report/markdown-report.ts'
import { renderActions } from '../../reconcile/report/text-report.ts'
import type { Revision } from '../../service/context/store-types.ts'
import { request, type StoreFlags, withConnection } from '../connect.ts'
import { paint } from '../paint.ts'
import { type Format, print, printOutcome, printTable } from '../print.ts'
import { confirm, isInteractive } from '../prompt.ts'
import { printHint } from '../terminal/hint.ts'

type HistoryFlags = StoreFlags & { readonly output: Format }

/** `regent history`: lists the last revisions of a realm, newest first. */
export async function history(realm: string, flags: HistoryFlags & { max: number }): Promise<void> {
  const revisions = await request<Revision[]>(
    flags,
    'GET',
    `/regent/v1/history/${encodeURIComponent(realm)}?max=${flags.max}`,
  )
  printTable(
    flags.output,
    { formatVersion: FORMAT_VERSION, revisions },
    {
      head: ['Revision', 'Time', 'Actor', 'Changes'],
      rows: revisions.map(toRow),
      none: 'No changes so far.',
      foot: [
        'Each changed object takes a number, and a revision has its last one, so numbers may be skipped.',
        'Changes of users are not listed.',
        ...(revisions.some(({ actor }) => actor.kind === 'system')
          ? ['system: changes by Regent itself, such as keys for the first login.']
          : []),
        ...(revisions[1] ? [`Changes of the latest: "regent diff ${realm} r${revisions[1].number}".`] : []),
      ].join('\n'),
    },
  )
  if (flags.output === 'text' && revisions.at(-1)?.oldestRetained)
    printHint('The retention of the journal has deleted older revisions. They cannot be rolled back to.')
}

/** Prints the changes from one revision to another, or to the live state. */
export async function diffRevisions(
  realm: string,
  { from, to }: { from: string; to: string | undefined },
  flags: HistoryFlags & { full?: true },
): Promise<void> {
  if (to !== undefined && parseRevision(from) > parseRevision(to))
    throw new Error(`${from} is later than ${to}. Pass the earlier one first: regent diff ${realm} ${to} ${from}`)
  const ends = { from: parseRevision(from), ...(to !== undefined && { to: parseRevision(to) }) }
  const query = new URLSearchParams(
    Object.entries(ends).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const actions = await request<Action[]>(flags, 'GET', `/regent/v1/diff/${encodeURIComponent(realm)}?${query}`)
  const render = (renderActionList: () => string) => () => (actions.length ? renderActionList() : 'No difference.')
  print(flags.output, actions, {
    text: render(() => renderActions(actions, { paint, detail: flags.full ? 'full' : 'fields' })),
    markdown: render(() => renderMarkdownActions(actions)),
  })
}

/** `regent rollback`: rolls back to a revision, or prints the plan of that. */
export async function rollback(
  realm: string,
  to: string,
  flags: HistoryFlags & { plan?: true; yes?: true },
): Promise<void> {
  if (/^r\d+$/.test(realm) && !/^r?\d+$/.test(to))
    throw new Error(`${realm} is a revision, and ${to} is none. The realm comes first: regent rollback ${to} ${realm}`)
  const revision = parseRevision(to)
  const path = `/regent/v1/rollback/${encodeURIComponent(realm)}`
  const outcome = await withConnection(flags, 'fail', async (connection) => {
    const send = (dryRun: boolean) =>
      connection.request<RealmOutcome>('POST', path, { body: { revision, ...(dryRun && { dryRun }) } })
    if (flags.plan) return send(true)
    if (!flags.yes && isInteractive() && flags.output === 'text')
      printOutcome(flags, { realms: [await send(true)], notes: [] }, { tense: 'planned' })
    await confirm(`This rolls back the realm ${realm} to r${revision}, and suspends its sources.`, flags)
    return send(false)
  })
  const tense = flags.plan ? 'planned' : 'applied'
  printOutcome(flags, { realms: [outcome], notes: [] }, { tense, json: outcome })
  if (!flags.plan && flags.output === 'text' && outcome.plan.actions.length)
    printHint('Its sources are suspended until they declare the same values. "regent source list" shows them.')
}

const REVISION = /^r?(\d+)$/

/** Whether a text is a revision, such as `r41` or `41`. */
export const isRevision = (text: string): boolean => REVISION.test(text)

/** Parses `r41` or `41`. */
function parseRevision(revision: string): number {
  const [, number] = REVISION.exec(revision) ?? []
  if (number === undefined)
    throw new Error(`${revision} is not a revision. Pass one such as r41; "regent history <realm>" lists them.`)
  return Number(number)
}

function toRow({ number, at, actor, sources, created, updated, deleted }: Revision): string[] {
  const author = [getActorName(actor), actor.client && `via ${actor.client}`].filter(Boolean).join(' ')
  const applied = sources?.length
    ? sources.map(({ name, revision }) => `${name} at ${shortenRevision(revision)}`).join(', ')
    : actor.rolledBackTo !== undefined && `rollback to r${actor.rolledBackTo}`
  const counts = Object.entries({ created, updated, deleted }).filter(([, count]) => count)
  const changes = counts.map(([outcome, count]) => `${count} ${outcome}`).join(', ')
  return [`r${number}`, formatTime(String(at)), author, applied ? `${changes}\n${applied}` : changes]
}
