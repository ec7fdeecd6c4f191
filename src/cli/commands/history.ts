// What became of a realm: its revisions, what lies between two of them, and the way back.

import type { RealmOutcome } from '../../reconcile/execute/execute.ts'
import type { Action } from '../../reconcile/model/action.ts'
import { moment, shortened } from '../../reconcile/model/attribution.ts'
import { markdownActions } from '../../reconcile/report/markdown.ts'
import { renderActions } from '../../reconcile/report/render.ts'
import type { Revision } from '../../service/context/store-types.ts'
import { request, type StoreFlags } from '../connect.ts'
import { paint } from '../paint.ts'
import { type Format, print, printOutcome, printTable } from '../print.ts'

type Flags = StoreFlags & { readonly output: Format }

/** `regent history`: the last revisions of a realm, newest first. */
export async function history(realm: string, flags: Flags & { max: number }): Promise<void> {
  const found = (await request(
    flags,
    'GET',
    `/regent/v1/history/${encodeURIComponent(realm)}?max=${flags.max}`,
  )) as Revision[]
  printTable(flags.output, found, {
    head: ['Revision', 'When', 'Who', 'What'],
    rows: found.map(rowOf),
    none: 'Nothing has changed so far.',
    foot: `Numbers count changes of objects: a revision has that of its last one.
What has changed since: "regent diff ${realm} r${found[0]?.number}".`,
  })
}

/** `regent diff`: what leads from one revision to another. */
export async function diff(
  realm: string,
  { from, to }: { from: string; to: string | undefined },
  flags: Flags,
): Promise<void> {
  const ends = { from: numberOf(from), ...(to !== undefined && { to: numberOf(to) }) }
  const query = new URLSearchParams(
    Object.entries(ends).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const found = (await request(flags, 'GET', `/regent/v1/diff/${encodeURIComponent(realm)}?${query}`)) as Action[]
  const render = (make: () => string) => () => (found.length ? make() : 'No difference.')
  print(flags.output, found, {
    text: render(() => renderActions(found, paint)),
    markdown: render(() => markdownActions(found)),
  })
}

/** `regent rollback`: goes back to a revision, or shows what that would do. */
export async function rollback(realm: string, to: string, flags: Flags & { plan?: true }): Promise<void> {
  const body = { revision: numberOf(to), ...(flags.plan && { tried: true }) }
  const path = `/regent/v1/rollback/${encodeURIComponent(realm)}`
  const outcome = (await request(flags, 'POST', path, { body })) as RealmOutcome
  const tense = flags.plan ? 'planned' : 'applied'
  printOutcome(flags.output, { realms: [outcome], notes: [] }, { tense, whole: outcome })
  if (!flags.plan && flags.output === 'text' && outcome.plan.actions.length)
    console.log('Its sources are suspended until they declare the same: "regent source list" shows them.')
}

/** `r41` or `41`. */
function numberOf(revision: string): number {
  const [, number] = /^r?(\d+)$/.exec(revision) ?? []
  if (number === undefined) throw new Error(`${revision} is no revision: they are called r1, r2 and so on`)
  return Number(number)
}

function rowOf({ number, at, actor, sources, created, updated, deleted }: Revision): string[] {
  const who = [actor.user ?? actor.source ?? actor.kind, actor.client && `by ${actor.client}`].filter(Boolean).join(' ')
  const applied = sources?.map(({ name, revision }) => `${name} at ${shortened(revision)}`).join(', ')
  const counts = Object.entries({ created, configured: updated, deleted }).filter(([, count]) => count)
  const what = counts.map(([outcome, count]) => `${count} ${outcome}`).join(', ')
  return [`r${number}`, moment(String(at)), who, applied ? `${what}\n${applied}` : what]
}
