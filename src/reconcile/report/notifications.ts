// The notifications of a plan that is applied or pending approval, and of a refused revision of a source. Pure.
import { describeObject } from '../../kinds/tree.ts'
import { formatPosition } from '../../lib/source-position.ts'
import type { Notification } from '../../service/messages/notifications.ts'
import type { SourceState } from '../../service/sources/source-status.ts'
import { formatTime, shortenRevision } from '../model/attribution.ts'
import { getShownOperation, type RenderedOutcome, renderSummary } from './outcome-text.ts'

/** The lines about objects, problems or drift in a text. */
const MAX_LINES = 10
/** The longest list of objects, problems or drift in a notification, in characters of its JSON. */
const MAX_LENGTH = 256 * 1024

type NotifiedRealm = RenderedOutcome['realms'][number]

/** A source of a notification. */
interface NotifiedSource {
  readonly name: string
  readonly revision: string
}

/** Returns the notification of an applied plan. `author`: who has applied it. */
export function notifyApplied(
  { plan, approval, consequences }: NotifiedRealm,
  { sources, author }: { readonly sources: readonly NotifiedSource[]; readonly author: string },
): Notification {
  const summary = renderSummary({ realms: [{ plan, consequences }] }, 'applied')
  const objects = plan.actions.map((action) => {
    const { kind, key } = action
    return { operation: getShownOperation(plan, action), kind, key }
  })
  const changes = objects.map(({ operation, kind, key }) => `${operation} ${describeObject(kind, key)}`)
  const approved = approval ? `, approved by ${approval.by}` : ''
  return {
    event: 'applied',
    realms: [plan.realm],
    sources: sources.map(({ name }) => name),
    lines: [`Realm ${plan.realm}`, summary, ...shorten(changes), `${renderSources(sources)}, by ${author}${approved}`],
    texts: { revision: renderRevisions(sources), author, summary, ...(approval && { plan: approval.plan }) },
    page: ['realms', plan.realm, 'history'],
    content: {
      realm: plan.realm,
      sources: sources.map(toNotifiedSource),
      by: author,
      ...(approval && { plan: approval.plan, approvedBy: approval.by }),
      summary,
      ...limit('objects', objects),
    },
  }
}

/** Returns the notification of a saved plan that is pending approval. `realms`: those that guards block. */
export function notifyPendingApproval(
  { id, expires }: { readonly id: string; readonly expires: Date },
  {
    realms,
    sources,
    author,
  }: {
    readonly realms: readonly NotifiedRealm[]
    readonly sources: readonly NotifiedSource[]
    readonly author: string
  },
): Notification {
  const names = realms.map(({ plan }) => plan.realm)
  const guards = realms.flatMap(({ guards = [] }) => guards.map(({ guard, message }) => ({ guard, message })))
  const reasons = guards.map(({ message }) => message)
  const until = expires.toISOString()
  return {
    event: 'pendingApproval',
    realms: names,
    sources: sources.map(({ name }) => name),
    lines: [
      `Realm ${names.join(', ')}: the plan ${id} is pending approval.`,
      ...shorten(reasons.map((reason) => `It ${reason}`)),
      `Approve it with "regent approve ${id}" until ${formatTime(until)}.`,
      `${renderSources(sources)}, by ${author}`,
    ],
    texts: { revision: renderRevisions(sources), author, summary: reasons.join('; '), plan: id },
    page: ['plans', id],
    content: { realms: names, sources: sources.map(toNotifiedSource), by: author, plan: id, expires: until, guards },
  }
}

/** Returns the notification of a revision that was refused. Its realms are those to which the source has applied before. */
export function notifyRefused({ name: source, realms, status }: SourceState): Notification {
  const { attempted, ready, problems = [] } = status
  const revision = attempted?.revision
  const message = ready?.message ?? ''
  const at = revision === undefined ? '' : ` at ${shortenRevision(revision)}`
  const details = problems.length
    ? problems.map((problem) => `${formatPosition(problem)}: ${problem.message}`)
    : message.split('\n')
  return {
    event: 'refused',
    realms,
    sources: [source],
    lines: [`Source ${source} was not applied${at}. Nothing changed.`, ...shorten(details)],
    texts: { ...(revision !== undefined && { revision }), summary: details[0] ?? '' },
    page: ['sources', source],
    content: { source, ...(revision !== undefined && { revision }), realms, message, ...limit('problems', problems) },
  }
}

const toNotifiedSource = ({ name, revision }: NotifiedSource): NotifiedSource => ({ name, revision })

const renderSources = (sources: readonly NotifiedSource[]): string =>
  sources.map(({ name, revision }) => `source ${name} at ${shortenRevision(revision)}`).join(', ')

const renderRevisions = (sources: readonly NotifiedSource[]): string =>
  sources.map(({ revision }) => revision).join(', ')

/** Returns the first lines, and the number of the others. */
export function shorten(lines: readonly string[]): string[] {
  const omitted = lines.length - MAX_LINES
  return omitted > 0 ? [...lines.slice(0, MAX_LINES), `… and ${omitted} more`] : [...lines]
}

/** Returns the member with the elements that fit, and `leftOut`, the number of the others. */
export function limit(name: string, elements: readonly object[]): object {
  let length = 0
  const included = elements.filter((element) => {
    length += JSON.stringify(element).length
    return length <= MAX_LENGTH
  })
  const leftOut = elements.length - included.length
  return { [name]: included, ...(leftOut && { leftOut }) }
}
