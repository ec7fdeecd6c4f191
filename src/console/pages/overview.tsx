// The overview: what needs attention, and all realms with their state.

import { useState } from 'preact/hooks'
import type {
  RealmStateName,
  RealmStateRepresentation,
  SavedPlanRepresentation,
  SourceStateRepresentation,
} from '../api-types.ts'
import { Actor, Badge, Link, PositionText, StateBadge, Time } from '../components/basics.tsx'
import { Icon } from '../components/icons.tsx'
import { PageHeader } from '../components/layout.tsx'
import { SearchInput } from '../components/search-field.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { shortenRevision } from '../format.ts'
import { toPath } from '../location.ts'
import { type RemoteData, useResource } from '../resource.ts'
import { texts } from '../texts.ts'

/** The most realms that are read at once. */
export const MOST_REALMS = 200

const states: readonly RealmStateName[] = ['failed', 'pendingApproval', 'drifted', 'suspended', 'inSync', 'unmanaged']

/** The start page. */
export function OverviewPage({ realms }: { readonly realms: RemoteData<readonly RealmStateRepresentation[]> }) {
  const sources = useResource<readonly SourceStateRepresentation[]>('regent/v1/source-states', { topics: ['sources'] })
  const plans = useResource<readonly SavedPlanRepresentation[]>('regent/v1/plans', { topics: ['plans'] })
  return (
    <>
      <PageHeader title={texts.overview.title} />
      <Loaded resource={realms}>
        {(all) => (
          <>
            <Loaded resource={sources}>
              {(allSources) => (
                <Loaded resource={plans}>
                  {(allPlans) => <Attention realms={all} sources={allSources} plans={allPlans} />}
                </Loaded>
              )}
            </Loaded>
            <RealmTable realms={all} />
          </>
        )}
      </Loaded>
    </>
  )
}

function Attention({
  realms,
  sources,
  plans,
}: {
  readonly realms: readonly RealmStateRepresentation[]
  readonly sources: readonly SourceStateRepresentation[]
  readonly plans: readonly SavedPlanRepresentation[]
}) {
  const failed = sources.filter(({ status: { ready } }) => ready?.status === 'False' && isFailure(ready.reason))
  const pending = plans.filter(({ state }) => state === 'pending')
  const drifted = realms.filter(({ drift = 0 }) => drift > 0)
  const suspended = sources.filter((source) => source.suspended)
  if (!failed.length && !pending.length && !drifted.length && !suspended.length)
    return realms.some(({ state }) => state === 'inSync') && realms.every(isCalm) ? <Calm /> : null
  return (
    <section aria-labelledby="attention" class="attention">
      <h2 id="attention">{texts.overview.attention}</h2>
      <ul class="cards">
        {failed.map((source) => (
          <FailedSource key={source.name} source={source} />
        ))}
        {pending.map((plan) => (
          <PendingPlan key={plan.id} plan={plan} />
        ))}
        {drifted.map(({ realm, drift = 0 }) => (
          <li key={realm} class="card drifted">
            <Icon name="drift" />
            <div>
              <Link to={toPath(['realms', realm, 'drift'])}>{texts.overview.drift(drift, realm)}</Link>
            </div>
          </li>
        ))}
        {suspended.map((source) => (
          <li key={source.name} class="card suspended">
            <Icon name="pause" />
            <div>
              <Link to={toPath(['sources', source.name])}>
                {texts.overview.sourceSuspended(source.name, source.suspended?.by ?? '')}
              </Link>{' '}
              <span class="quiet">
                <Time at={source.suspended?.at ?? ''} />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

const isCalm = ({ state }: RealmStateRepresentation) => state === 'inSync' || state === 'unmanaged'

const isFailure = (reason: string) => reason !== 'PendingApproval' && reason !== 'RolledBack'

function Calm() {
  return (
    <p class="calm">
      <Icon name="check" />
      <span>
        <b>{texts.overview.calm}</b> <span class="quiet">{texts.overview.calmHint}</span>
      </span>
    </p>
  )
}

function FailedSource({ source: { name, status } }: { readonly source: SourceStateRepresentation }) {
  const problems = status.problems ?? []
  return (
    <li class="card failed">
      <Icon name="cross" />
      <div>
        <Link to={toPath(['sources', name])}>{texts.overview.sourceFailed(name)}</Link>{' '}
        <span class="quiet">
          {status.attempted?.revision !== undefined && `${shortenRevision(status.attempted.revision)} `}
          <Time at={status.ready?.since ?? ''} />
        </span>
        {problems.length === 0 && <p class="message">{status.ready?.message}</p>}
        {problems.slice(0, 3).map(({ file, line, column, message }) => (
          <p class="message" key={`${file}:${line}:${column}:${message}`}>
            <PositionText file={file} line={line} column={column} /> {message}
          </p>
        ))}
      </div>
    </li>
  )
}

function PendingPlan({ plan: { id, realms, created } }: { readonly plan: SavedPlanRepresentation }) {
  return (
    <li class="card pendingApproval">
      <Icon name="clock" />
      <div>
        <Link to={toPath(['plans', id])}>{texts.overview.planPending(id)}</Link>{' '}
        <span class="quiet">
          {realms.map(({ realm }) => realm).join(', ')} · <Actor by={created} />
        </span>
        {realms
          .flatMap(({ guards }) => guards)
          .map(({ message }) => (
            <p class="message" key={message}>
              {message}
            </p>
          ))}
      </div>
    </li>
  )
}

function RealmTable({ realms }: { readonly realms: readonly RealmStateRepresentation[] }) {
  const [search, setSearch] = useState('')
  const [state, setState] = useState<RealmStateName>()
  // The list has the first realms only. The server searches among all.
  const searched = useResource<readonly RealmStateRepresentation[]>(
    search && realms.length >= MOST_REALMS
      ? `regent/v1/realms?max=${MOST_REALMS}&search=${encodeURIComponent(search)}`
      : undefined,
    { topics: ['sources', 'plans', 'drift', 'revisions'] },
  )
  const matchingRealms = (searched.data ?? realms).filter(
    (realm) =>
      realm.realm.toLowerCase().includes(search.toLowerCase()) && (state === undefined || realm.state === state),
  )
  if (!realms.length) return <Empty title={texts.overview.noRealms} />
  return (
    <section aria-labelledby="realms">
      <div class="toolbar">
        <h2 id="realms">{texts.nav.realms}</h2>
        <StateFilter realms={realms} state={state} choose={setState} />
        <SearchInput label={texts.overview.find} value={search} onInput={setSearch} />
      </div>
      {matchingRealms.length === 0 ? (
        <Empty title={texts.overview.empty} />
      ) : (
        <table class="realms">
          <thead>
            <tr>
              <th scope="col">{texts.overview.columns.realm}</th>
              <th scope="col">{texts.overview.columns.state}</th>
              <th scope="col">{texts.overview.columns.sources}</th>
              <th scope="col">{texts.overview.columns.change}</th>
            </tr>
          </thead>
          <tbody>
            {matchingRealms.map((realm) => (
              <RealmRow key={realm.realm} realm={realm} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function StateFilter({
  realms,
  state,
  choose,
}: {
  readonly realms: readonly RealmStateRepresentation[]
  readonly state: RealmStateName | undefined
  readonly choose: (state: RealmStateName | undefined) => void
}) {
  const present = states.filter((name) => realms.some((realm) => realm.state === name))
  if (!present.length) return null
  return (
    <div class="chips">
      <button type="button" class="chip" aria-pressed={state === undefined} onClick={() => choose(undefined)}>
        {texts.overview.all} <b>{realms.length}</b>
      </button>
      {present.map((name) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-pressed={state === name}
          onClick={() => choose(state === name ? undefined : name)}
        >
          <i class={`dot ${name}`} aria-hidden="true" />
          {texts.states[name]} <b>{realms.filter((realm) => realm.state === name).length}</b>
        </button>
      ))}
    </div>
  )
}

function RealmRow({ realm }: { readonly realm: RealmStateRepresentation }) {
  const { state, sources, drift = 0, lastChange, enabled } = realm
  return (
    <tr>
      <th scope="row" data-label={texts.overview.columns.realm}>
        <Link to={toPath(['realms', realm.realm])} class="name">
          {realm.realm}
        </Link>{' '}
        {!enabled && <Badge>{texts.overview.disabled}</Badge>}
      </th>
      <td data-label={texts.overview.columns.state}>
        {state !== undefined && <StateBadge state={state} />}
        {drift > 0 && state !== 'drifted' && (
          <span class="also">
            <StateBadge state="drifted" />
          </span>
        )}
      </td>
      <td data-label={texts.overview.columns.sources}>
        {(sources ?? []).map((source, at) => (
          <span key={source}>
            {at > 0 && ', '}
            <Link to={toPath(['sources', source])}>{source}</Link>
          </span>
        ))}
      </td>
      <td data-label={texts.overview.columns.change}>
        {lastChange && (
          <>
            <Link to={toPath(['realms', realm.realm, 'history'])}>r{lastChange.revision}</Link>{' '}
            <Actor by={lastChange.by} />
          </>
        )}
      </td>
    </tr>
  )
}
