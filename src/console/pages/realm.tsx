// The pages of a realm: its objects by kind, drift, history, users and events.
import { CallError } from '../api.ts'
import type {
  DriftRepresentation,
  KindCountRepresentation,
  ListedObjectRepresentation,
  RealmStateRepresentation,
} from '../api-types.ts'
import { Badge, Link, StateBadge, toObjectPath } from '../components/basics.tsx'
import { DriftItems } from '../components/drift-items.tsx'
import { PageHeader } from '../components/layout.tsx'
import { SearchField } from '../components/search-field.tsx'
import { Empty, Failure, Loaded, Loading } from '../components/states.tsx'
import { formatKey } from '../format.ts'
import { address, navigate, toPath } from '../location.ts'
import { type RemoteData, usePages, useResource } from '../resource.ts'
import { texts } from '../texts.ts'
import { EventsPage } from './events.tsx'
import { HistoryPage } from './history.tsx'
import { ObjectPage } from './object.tsx'
import { UserPage, UsersPage } from './users.tsx'

/** A page of the realm that the address names. */
export function RealmPage({ realms }: { readonly realms: RemoteData<readonly RealmStateRepresentation[]> }) {
  const { segments, query } = address.value
  const [, name = '', section = 'objects', detail] = segments
  const listed = realms.data?.find(({ realm }) => realm === name)
  const isMissing = realms.data !== undefined && !listed
  // The list has the first realms only.
  const searched = useResource<readonly RealmStateRepresentation[]>(
    isMissing ? `regent/v1/realms?max=500&search=${encodeURIComponent(name)}` : undefined,
  )
  const realm = listed ?? searched.data?.find((candidate) => candidate.realm === name)
  if (!realm) {
    const error = realms.error ?? searched.error ?? (searched.data && new CallError(404, ''))
    return (
      <>
        <PageHeader title={name} />
        {error ? <Failure error={error} retry={realms.reload} /> : <Loading />}
      </>
    )
  }
  const key = query.getAll('key')
  if (section === 'drift') return <DriftPage key={name} realm={realm} />
  if (section === 'history') return <HistoryPage key={name} realm={realm} />
  if (section === 'users' && detail !== undefined) return <UserPage key={detail} realm={realm} id={detail} />
  if (section === 'users') return <UsersPage key={name} realm={realm} />
  if (section === 'events') return <EventsPage key={name} realm={realm} />
  if (section === 'objects' && detail !== undefined && key.length)
    return <ObjectPage key={`${detail} ${key.join('\0')}`} realm={realm} kind={detail} objectKey={key} />
  if (section === 'objects') return <ObjectsPage key={name} realm={realm} kind={detail} />
  return (
    <>
      <PageHeader title={texts.errors.notFound} />
      <Failure error={new CallError(404, '')} retry={() => {}} />
    </>
  )
}

function ObjectsPage({ realm, kind }: { readonly realm: RealmStateRepresentation; readonly kind: string | undefined }) {
  const name = realm.realm
  const counts = useResource<readonly KindCountRepresentation[]>(`regent/v1/objects/${encodeURIComponent(name)}`, {
    topics: ['revisions'],
    realm: name,
  })
  const drift = useDrift(realm)
  return (
    <>
      <PageHeader title={name}>{realm.state !== undefined && <StateBadge state={realm.state} />}</PageHeader>
      <Loaded resource={counts}>
        {(all) => {
          const chosen =
            all.find((counted) => counted.kind === kind) ?? all.find((counted) => counted.kind === 'client') ?? all[0]
          return (
            <div class="columns">
              <KindList realm={name} counts={all} chosen={chosen?.kind} drift={drift} />
              {chosen && <ObjectList key={chosen.kind} realm={name} counted={chosen} drift={drift} />}
            </div>
          )
        }}
      </Loaded>
    </>
  )
}

function useDrift({ realm, permissions }: RealmStateRepresentation): readonly DriftRepresentation[] {
  const path = permissions.includes('accept-drift') ? `regent/v1/drift?realm=${encodeURIComponent(realm)}` : undefined
  return useResource<readonly DriftRepresentation[]>(path, { topics: ['drift', 'revisions'], realm }).data ?? []
}

function KindList({
  realm,
  counts,
  chosen,
  drift,
}: {
  readonly realm: string
  readonly counts: readonly KindCountRepresentation[]
  readonly chosen: string | undefined
  readonly drift: readonly DriftRepresentation[]
}) {
  return (
    <nav class="kinds" aria-label={texts.realm.kinds}>
      {sortByParent(counts).map(({ kind, title, count, managed, depth }) => {
        const drifted = new Set(drift.filter((candidate) => candidate.kind === kind).map(({ key }) => formatKey(key)))
          .size
        return (
          <Link
            key={kind}
            to={toPath(['realms', realm, 'objects', kind])}
            class={['item', depth > 0 && 'child', count === 0 && 'none'].filter(Boolean).join(' ')}
            current={kind === chosen}
          >
            <span>{title}</span>
            {drifted > 0 && <Badge tone="amber">{drifted}</Badge>}
            <span class="quiet" title={texts.realm.count(managed, count)}>
              {count.toLocaleString('en')}
            </span>
          </Link>
        )
      })}
    </nav>
  )
}

/** The kinds that are used most. Others follow. */
const FIRST_KINDS = [
  'realm',
  'client',
  'role',
  'clientScope',
  'group',
  'user',
  'identityProvider',
  'authenticationFlow',
]

const getRank = ({ kind }: KindCountRepresentation) => FIRST_KINDS.indexOf(kind) + 1 || FIRST_KINDS.length + 1

/** Returns kinds in the order of a tree: children after their parent, if all its objects have one and the list has it. */
function sortByParent(
  counts: readonly KindCountRepresentation[],
): (KindCountRepresentation & { readonly depth: number })[] {
  const names = new Set(counts.map(({ kind }) => kind))
  const parentOf = ({ parents, kind }: KindCountRepresentation) =>
    FIRST_KINDS.includes(kind) ? undefined : parents.find((parent) => parent !== kind && names.has(parent))
  const list = (parent: string | undefined, depth: number): (KindCountRepresentation & { readonly depth: number })[] =>
    counts
      .filter((counted) => parentOf(counted) === parent)
      .toSorted((a, b) => getRank(a) - getRank(b))
      .flatMap((counted) => [{ ...counted, depth }, ...list(counted.kind, depth + 1)])
  return list(undefined, 0)
}

type ManagedFilter = '' | 'true' | 'false'

function ObjectList({
  realm,
  counted,
  drift,
}: {
  readonly realm: string
  readonly counted: KindCountRepresentation
  readonly drift: readonly DriftRepresentation[]
}) {
  const { kind, title, count } = counted
  const { query } = address.value
  const search = query.get('search') ?? ''
  const managed = query.get('managed') ?? ''
  const list = usePages<ListedObjectRepresentation>(
    `regent/v1/objects/${encodeURIComponent(realm)}/${kind}?search=${encodeURIComponent(search)}${managed && `&managed=${managed}`}`,
    realm,
  )
  const show = (changes: { readonly search?: string; readonly managed?: ManagedFilter }) =>
    navigate(toPath(['realms', realm, 'objects', kind], { search, managed, ...changes }), { replaces: true })
  const drifted = new Set(drift.filter((candidate) => candidate.kind === kind).map(({ key }) => formatKey(key)))
  return (
    <section aria-labelledby="kind">
      <div class="toolbar">
        <h2 id="kind" class="capital">
          {title} <span class="quiet">{count.toLocaleString('en')}</span>
        </h2>
        <ManagedChips chosen={managed} choose={(value) => show({ managed: value })} />
        <SearchField label={texts.realm.find(title)} value={search} onSearch={(text) => show({ search: text })} />
      </div>
      <Loaded resource={list}>
        {(objects) =>
          objects.length === 0 ? (
            <Empty title={search || managed ? texts.realm.noMatch : texts.realm.empty} />
          ) : (
            <>
              <ObjectItems realm={realm} kind={kind} objects={objects} drifted={drifted} />
              {list.hasMore && (
                <button type="button" class="more" onClick={list.showMore}>
                  {texts.more}
                </button>
              )}
            </>
          )
        }
      </Loaded>
    </section>
  )
}

function ObjectItems({
  realm,
  kind,
  objects,
  drifted,
}: {
  readonly realm: string
  readonly kind: string
  readonly objects: readonly ListedObjectRepresentation[]
  readonly drifted: ReadonlySet<string>
}) {
  return (
    <ul class="list large">
      {objects.map(({ id, key, sources }) => (
        <li key={id}>
          <Link to={toObjectPath(realm, kind, key)} class="name">
            {formatKey(key)}
          </Link>
          {drifted.has(formatKey(key)) && <Badge tone="amber">{texts.realm.drifted}</Badge>}
          <span class="right quiet">{sources.length ? sources.join(', ') : texts.realm.unmanagedBadge}</span>
        </li>
      ))}
    </ul>
  )
}

function ManagedChips({
  chosen,
  choose,
}: {
  readonly chosen: string
  readonly choose: (value: ManagedFilter) => void
}) {
  const { all, managed, unmanaged } = texts.realm
  const choices = [
    ['', all],
    ['true', managed],
    ['false', unmanaged],
  ] as const
  return (
    <fieldset class="chips">
      <legend class="hidden">{texts.realm.managedFilter}</legend>
      {choices.map(([value, text]) => (
        <button key={value} type="button" class="chip" aria-pressed={chosen === value} onClick={() => choose(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  )
}

function DriftPage({ realm }: { readonly realm: RealmStateRepresentation }) {
  const name = realm.realm
  const drift = useResource<readonly DriftRepresentation[]>(`regent/v1/drift?realm=${encodeURIComponent(name)}`, {
    topics: ['drift', 'revisions'],
    realm: name,
  })
  return (
    <>
      <PageHeader title={texts.drift.title} crumbs={[{ text: name, to: toPath(['realms', name]) }]} />
      <Loaded resource={drift}>
        {(all) =>
          all.length ? (
            <DriftItems realm={realm} drift={all} />
          ) : (
            <Empty title={texts.drift.empty} hint={texts.drift.emptyHint} />
          )
        }
      </Loaded>
    </>
  )
}
