// The events of a realm: those of users, and those of administrators.
import { useId } from 'preact/hooks'
import type {
  AdminEventRepresentation,
  JsonData,
  RealmStateRepresentation,
  UserEventRepresentation,
} from '../api-types.ts'
import { Badge, Link, Time } from '../components/basics.tsx'
import { PageHeader } from '../components/layout.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { Value } from '../components/value-diff.tsx'
import { address, navigate, toPath } from '../location.ts'
import { usePages } from '../resource.ts'
import { texts } from '../texts.ts'

/** The filters of each kind of events, by the parameter of the admin API. */
const filters = {
  user: [
    ['type', texts.events.filters.type, 'text'],
    ['client', texts.events.filters.client, 'text'],
    ['user', texts.events.filters.userId, 'text'],
    ['ipAddress', texts.events.filters.address, 'text'],
    ['dateFrom', texts.events.filters.from, 'date'],
    ['dateTo', texts.events.filters.to, 'date'],
  ],
  admin: [
    ['operationTypes', texts.events.filters.operation, 'text'],
    ['resourceTypes', texts.events.filters.resource, 'text'],
    ['resourcePath', texts.events.filters.path, 'text'],
    ['authUser', texts.events.filters.userId, 'text'],
    ['authIpAddress', texts.events.filters.address, 'text'],
    ['dateFrom', texts.events.filters.from, 'date'],
    ['dateTo', texts.events.filters.to, 'date'],
  ],
} as const

/** Parameters whose values the admin API has in capitals. */
const CAPITALS: readonly string[] = ['type', 'operationTypes', 'resourceTypes']

/** The page of events. */
export function EventsPage({ realm: { realm } }: { readonly realm: RealmStateRepresentation }) {
  const { query } = address.value
  const kind = query.get('kind') === 'admin' ? 'admin' : 'user'
  const chosen = filters[kind].flatMap(([name]) => {
    const value = query.get(name)
    return value ? [[name, value] as const] : []
  })
  const parameters = new URLSearchParams(
    chosen.map(([name, value]): [string, string] => [name, CAPITALS.includes(name) ? value.toUpperCase() : value]),
  )
  const path = `admin/realms/${encodeURIComponent(realm)}/${kind === 'admin' ? 'admin-events' : 'events'}?${parameters}`
  const show = (name: string, value: string) =>
    navigate(
      toPath(['realms', realm, 'events'], {
        ...(kind === 'admin' && { kind }),
        ...Object.fromEntries(chosen),
        [name]: value,
      }),
      { replaces: true },
    )
  return (
    <>
      <PageHeader title={texts.events.title} crumbs={[{ text: realm, to: toPath(['realms', realm]) }]} />
      <nav class="tabs" aria-label={texts.events.kind}>
        <Link to={toPath(['realms', realm, 'events'])} current={kind === 'user'}>
          {texts.events.user}
        </Link>
        <Link to={toPath(['realms', realm, 'events'], { kind: 'admin' })} current={kind === 'admin'}>
          {texts.events.admin}
        </Link>
      </nav>
      <search class="filters" key={kind}>
        {filters[kind].map(([name, label, type]) => (
          <FilterInput
            key={name}
            label={label}
            type={type}
            value={query.get(name) ?? ''}
            onChange={(value) => show(name, value)}
          />
        ))}
      </search>
      {kind === 'admin' ? <AdminEvents key={path} path={path} realm={realm} /> : <UserEvents key={path} path={path} />}
    </>
  )
}

function FilterInput({
  label,
  type,
  value,
  onChange,
}: {
  readonly label: string
  readonly type: 'text' | 'date'
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const id = useId()
  const change = (event: { readonly currentTarget: HTMLInputElement }) => onChange(event.currentTarget.value)
  return (
    <div>
      <label for={id}>{label}</label>
      {type === 'date' ? (
        <input id={id} type="date" value={value} onChange={change} />
      ) : (
        <input id={id} type="text" value={value} onChange={change} />
      )}
    </div>
  )
}

interface EventLine {
  readonly time: number
  readonly name: string
  readonly error: string | undefined
  readonly facts: readonly (string | undefined)[]
  readonly details: JsonData
}

function UserEvents({ path }: { readonly path: string }) {
  const events = usePages<UserEventRepresentation>(path)
  const toLine = ({
    time,
    type,
    error,
    clientId,
    userId,
    ipAddress,
    details = {},
  }: UserEventRepresentation): EventLine => ({
    time,
    name: type,
    error,
    facts: [details.username ?? userId, clientId, ipAddress],
    details: { ...(userId !== undefined && { userId }), ...details },
  })
  const { columns } = texts.events
  return (
    <EventTable
      events={{ ...events, data: events.data?.map(toLine) }}
      columns={[columns.time, columns.event, columns.user, columns.client, columns.address]}
    />
  )
}

function AdminEvents({ path, realm }: { readonly path: string; readonly realm: string }) {
  const events = usePages<AdminEventRepresentation>(path, realm)
  const toLine = (event: AdminEventRepresentation): EventLine => ({
    time: event.time,
    name: `${event.operationType} ${event.resourceType}`,
    error: event.error,
    facts: [event.resourcePath, event.authDetails?.userId, event.authDetails?.ipAddress],
    details: event.representation ?? null,
  })
  const { columns } = texts.events
  return (
    <EventTable
      events={{ ...events, data: events.data?.map(toLine) }}
      columns={[columns.time, columns.event, columns.resource, columns.user, columns.address]}
    />
  )
}

function EventTable({
  events,
  columns,
}: {
  readonly events: ReturnType<typeof usePages<EventLine>>
  readonly columns: readonly string[]
}) {
  return (
    <Loaded resource={events}>
      {(all) =>
        all.length === 0 ? (
          <Empty title={texts.events.empty} hint={texts.events.emptyHint} />
        ) : (
          <>
            <table>
              <thead>
                <tr>
                  {[...columns, texts.events.details].map((column) => (
                    <th key={column} scope="col">
                      {column}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {all.map((line, at) => (
                  <EventRow key={at} line={line} columns={columns} />
                ))}
              </tbody>
            </table>
            {events.hasMore && (
              <button type="button" class="more" onClick={events.showMore}>
                {texts.more}
              </button>
            )}
          </>
        )
      }
    </Loaded>
  )
}

function EventRow({
  line: { time, name, error, facts, details },
  columns,
}: {
  readonly line: EventLine
  readonly columns: readonly string[]
}) {
  const hasDetails = details !== null && (typeof details !== 'object' || Object.keys(details).length > 0)
  return (
    <tr>
      <td data-label={columns[0]}>
        <Time at={time} />
      </td>
      <th scope="row" data-label={columns[1]}>
        <code>{name}</code> {error !== undefined && <Badge tone="red">{error}</Badge>}
      </th>
      {facts.map((fact, at) => (
        <td key={at} data-label={columns[at + 2]}>
          {fact}
        </td>
      ))}
      <td data-label={texts.events.details}>
        {hasDetails && (
          <details>
            <summary>{texts.events.details}</summary>
            <Value value={details} />
          </details>
        )}
      </td>
    </tr>
  )
}
