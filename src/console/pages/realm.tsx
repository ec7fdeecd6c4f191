// The pages of a realm: its objects by kind, drift, history, users and events.
import { ApiError } from '../api.ts'
import type { Drift, KindCount, ListedObject, RealmState } from '../api-types.ts'
import { Badge, Link, StateBadge, toObjectPath } from '../components/basics.tsx'
import { PageHeader } from '../components/layout.tsx'
import { SearchField } from '../components/search-field.tsx'
import { Empty, Failure, Loaded, Loading } from '../components/states.tsx'
import { formatKey } from '../format.ts'
import { address, navigate, toPath } from '../location.ts'
import { type Resource, usePages, useResource } from '../resource.ts'
import { texts } from '../texts.ts'
import { DriftPage } from './drift.tsx'
import { EventsPage } from './events.tsx'
import { HistoryPage } from './history.tsx'
import { ObjectPage } from './object.tsx'
import { UserPage, UsersPage } from './users.tsx'

/** A page of the realm that the address names. */
export function RealmPage({ realms }: { readonly realms: Resource<readonly RealmState[]> }) {
  const { segments, query } = address.value
  const [, name = '', section = 'objects', detail] = segments
  const listed = realms.data?.find(({ realm }) => realm === name)
  const isMissing = realms.data !== undefined && !listed
  // The list has the first realms only.
  const searched = useResource<readonly RealmState[]>(
    isMissing ? `regent/v1/realms?max=500&search=${encodeURIComponent(name)}` : undefined,
  )
  const realm = listed ?? searched.data?.find((candidate) => candidate.realm === name)
  if (!realm) {
    const error = realms.error ?? searched.error ?? (searched.data && new ApiError(404, ''))
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
      <Failure error={new ApiError(404, '')} retry={() => {}} />
    </>
  )
}

function ObjectsPage({ realm, kind }: { readonly realm: RealmState; readonly kind: string | undefined }) {
  const name = realm.realm
  const counts = useResource<readonly KindCount[]>(`regent/v1/objects/${encodeURIComponent(name)}`, {
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
            all.find((counted) => counted.kind === kind) ?? all.find(({ kind: each }) => each === 'client') ?? all[0]
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

function useDrift({ realm, permissions }: RealmState): readonly Drift[] {
  const path = permissions.includes('accept-drift') ? `regent/v1/drift?realm=${encodeURIComponent(realm)}` : undefined
  return useResource<readonly Drift[]>(path, { topics: ['drift', 'revisions'], realm }).data ?? []
}

function KindList({
  realm,
  counts,
  chosen,
  drift,
}: {
  readonly realm: string
  readonly counts: readonly KindCount[]
  readonly chosen: string | undefined
  readonly drift: readonly Drift[]
}) {
  return (
    <nav class="kinds" aria-label={texts.realm.kinds}>
      {sortByParent(counts).map(({ kind, title, count, managed, depth }) => {
        const drifted = new Set(drift.filter((each) => each.kind === kind).map(({ key }) => formatKey(key))).size
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

const getRank = ({ kind }: KindCount) => FIRST_KINDS.indexOf(kind) + 1 || FIRST_KINDS.length + 1

/** Returns kinds in the order of a tree: each after its parent, if all its objects have one and the list has it. */
function sortByParent(counts: readonly KindCount[]): (KindCount & { readonly depth: number })[] {
  const names = new Set(counts.map(({ kind }) => kind))
  const parentOf = ({ parents, kind }: KindCount) =>
    FIRST_KINDS.includes(kind) ? undefined : parents.find((parent) => parent !== kind && names.has(parent))
  const list = (parent: string | undefined, depth: number): (KindCount & { readonly depth: number })[] =>
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
  readonly counted: KindCount
  readonly drift: readonly Drift[]
}) {
  const { kind, title, count } = counted
  const { query } = address.value
  const search = query.get('search') ?? ''
  const managed = query.get('managed') ?? ''
  const list = usePages<ListedObject>(
    `regent/v1/objects/${encodeURIComponent(realm)}/${kind}?search=${encodeURIComponent(search)}${managed && `&managed=${managed}`}`,
    realm,
  )
  const show = (changes: { readonly search?: string; readonly managed?: ManagedFilter }) =>
    navigate(toPath(['realms', realm, 'objects', kind], { search, managed, ...changes }), { replaces: true })
  const drifted = new Set(drift.filter((each) => each.kind === kind).map(({ key }) => formatKey(key)))
  return (
    <section aria-labelledby="kind">
      <div class="toolbar">
        <h2 id="kind" class="capital">
          {title} <span class="quiet">{count.toLocaleString('en')}</span>
        </h2>
        <fieldset class="chips">
          <legend class="hidden">{texts.realm.managedFilter}</legend>
          {(
            [
              ['', texts.realm.all],
              ['true', texts.realm.managed],
              ['false', texts.realm.unmanaged],
            ] as const
          ).map(([value, text]) => (
            <button
              key={value}
              type="button"
              class="chip"
              aria-pressed={managed === value}
              onClick={() => show({ managed: value })}
            >
              {text}
            </button>
          ))}
        </fieldset>
        <SearchField label={texts.realm.find(title)} value={search} onSearch={(text) => show({ search: text })} />
      </div>
      <Loaded resource={list}>
        {(objects) =>
          objects.length === 0 ? (
            <Empty title={search || managed ? texts.realm.noMatch : texts.realm.empty} />
          ) : (
            <>
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
