// Small parts of pages: links, times, badges, names of actors and objects.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ActionOperation, AttributionRepresentation, NaturalKey, RealmStateName } from '../api-types.ts'
import { formatDistance, formatKey, formatTime, toWords } from '../format.ts'
import { navigate, toPath } from '../location.ts'
import { texts } from '../texts.ts'
import { Icon, type IconName } from './icons.tsx'

/** The current time, for distances. */
const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 15_000)

/** A link to a page of the console. */
export function Link({
  to,
  children,
  class: className,
  current,
}: {
  readonly to: string
  readonly children: ComponentChildren
  readonly class?: string | undefined
  readonly current?: boolean | undefined
}) {
  return (
    <a
      href={to}
      class={className}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
        event.preventDefault()
        navigate(to)
      }}
    >
      {children}
    </a>
  )
}

/** A time as the distance from now. */
export function Time({ at }: { readonly at: string | number }) {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return <>{at}</>
  return (
    <time dateTime={time.toISOString()} title={formatTime(time)}>
      {formatDistance(time, now.value)}
    </time>
  )
}

const stateIcons: Readonly<Record<RealmStateName, IconName>> = {
  failed: 'cross',
  pendingApproval: 'clock',
  drifted: 'drift',
  suspended: 'pause',
  inSync: 'check',
  unmanaged: 'empty',
}

/** The state of a realm. */
export function StateBadge({ state }: { readonly state: RealmStateName }) {
  return (
    <span class={`state ${state}`}>
      <Icon name={stateIcons[state]} />
      {texts.states[state]}
    </span>
  )
}

/** A short text in a frame. */
export function Badge({ tone = 'plain', children }: { readonly tone?: string; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** The sign of an operation on an object. */
export function OperationSign({ operation }: { readonly operation: ActionOperation }) {
  const sign = { create: '+', update: '~', delete: '−' }[operation]
  return (
    <span class={`sign ${operation}`}>
      <span aria-hidden="true">{sign}</span>
      <span class="hidden">{texts.operations[operation]} </span>
    </span>
  )
}

/** The actor of a change, and its time. */
export function Actor({ by, hasTime = true }: { readonly by: AttributionRepresentation; readonly hasTime?: boolean }) {
  const details = [by.client, by.address].filter(Boolean).join(', ')
  return (
    <span class="actor" title={details || undefined}>
      <b>{by.name}</b>
      {by.client !== undefined && <span class="quiet"> via {by.client}</span>}
      {by.rolledBackTo !== undefined && <span class="quiet"> {texts.history.rolledBackTo(by.rolledBackTo)}</span>}
      {hasTime && (
        <span class="quiet">
          {' '}
          <Time at={by.at} />
        </span>
      )}
    </span>
  )
}

/** Returns the path of the page of an object. */
export function toObjectPath(realm: string, kind: string, key: NaturalKey): string {
  return toPath(['realms', realm, 'objects', kind], { key })
}

/** An object with its kind, linked to its page. */
export function ObjectLink({
  realm,
  kind,
  objectKey,
}: {
  readonly realm: string
  readonly kind: string
  readonly objectKey: NaturalKey
}) {
  return (
    <Link to={toObjectPath(realm, kind, objectKey)} class="object">
      <ObjectName kind={kind} objectKey={objectKey} />
    </Link>
  )
}

/** The name of an object after its kind. */
export function ObjectName({ kind, objectKey }: { readonly kind: string; readonly objectKey: NaturalKey }) {
  return (
    <>
      <span class="quiet">{toWords(kind)} </span>
      <b class="name">{formatKey(objectKey)}</b>
    </>
  )
}

/** The position of a declaration. */
export function PositionText({
  file,
  line,
  column,
}: {
  readonly file: string
  readonly line: number
  readonly column?: number | undefined
}) {
  return <code class="position">{[file, line, column].filter((part) => part !== undefined).join(':')}</code>
}
