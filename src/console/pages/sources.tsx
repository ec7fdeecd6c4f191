// Sources: their status, the log of their last runs, and what administrators do with them.
import { useState } from 'preact/hooks'
import { CallError, call } from '../api.ts'
import type { RealmSourceRepresentation, RealmStateRepresentation, SourceStateRepresentation } from '../api-types.ts'
import { Badge, Link, PositionText, Time } from '../components/basics.tsx'
import { ActionButton, announce, ConfirmDialog } from '../components/dialog.tsx'
import { Icon } from '../components/icons.tsx'
import { PageHeader } from '../components/layout.tsx'
import { Empty, Failure, Loaded } from '../components/states.tsx'
import { shortenRevision } from '../format.ts'
import { toPath } from '../location.ts'
import { type RemoteData, useResource } from '../resource.ts'
import { texts } from '../texts.ts'

/** The page of all sources that the user may view. */
export function SourcesPage() {
  const sources = useSources()
  const inRealms = useRealmSources().data ?? []
  const { overview } = texts
  return (
    <>
      <PageHeader title={texts.sources.title} />
      <Loaded resource={sources}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={texts.sources.empty} hint={texts.sources.emptyHint} />
          ) : (
            <table>
              <thead>
                <tr>
                  <th scope="col">{overview.columns.sources}</th>
                  <th scope="col">{overview.columns.state}</th>
                  <th scope="col">{texts.sources.revision}</th>
                  <th scope="col">{texts.sources.realms}</th>
                </tr>
              </thead>
              <tbody>
                {all.map((source) => (
                  <SourceRow key={source.name} source={source} inRealms={inRealms} />
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </>
  )
}

function useSources() {
  return useResource<readonly SourceStateRepresentation[]>('regent/v1/source-states', {
    topics: ['sources', 'revisions'],
  })
}

function useRealmSources() {
  return useResource<readonly RealmSourceRepresentation[]>('regent/v1/sources', {
    topics: ['sources', 'drift', 'revisions'],
  })
}

/** Whether an administrator has suspended the source, or a rollback in one of its realms. */
function isSuspended(
  { name, suspended, status }: SourceStateRepresentation,
  inRealms: readonly RealmSourceRepresentation[],
): boolean {
  const isRolledBack = status.ready?.reason === 'RolledBack'
  return (
    suspended !== null ||
    isRolledBack ||
    inRealms.some((candidate) => candidate.source === name && candidate.suspended !== null)
  )
}

function SourceRow({
  source,
  inRealms,
}: {
  readonly source: SourceStateRepresentation
  readonly inRealms: readonly RealmSourceRepresentation[]
}) {
  const { name, realms, status } = source
  const attempt = status.applied ?? status.attempted
  return (
    <tr>
      <th scope="row" data-label={texts.overview.columns.sources}>
        <Link to={toPath(['sources', name])} class="name">
          {name}
        </Link>
      </th>
      <td data-label={texts.overview.columns.state}>
        <SourceBadge source={source} inRealms={inRealms} />
      </td>
      <td data-label={texts.sources.revision}>
        {attempt && (
          <>
            <code>{shortenRevision(attempt.revision ?? texts.unknown)}</code>{' '}
            <span class="quiet">
              <Time at={attempt.at} />
            </span>
          </>
        )}
      </td>
      <td data-label={texts.sources.realms}>
        {realms.map((realm, at) => (
          <span key={realm}>
            {at > 0 && ', '}
            <Link to={toPath(['realms', realm])}>{realm}</Link>
          </span>
        ))}
      </td>
    </tr>
  )
}

function SourceBadge({
  source,
  inRealms,
}: {
  readonly source: SourceStateRepresentation
  readonly inRealms: readonly RealmSourceRepresentation[]
}) {
  const { states } = texts.sources
  const { ready } = source.status
  if (isSuspended(source, inRealms)) return <Badge>{states.suspended}</Badge>
  if (!ready) return <Badge>{states.unknown}</Badge>
  if (ready.status === 'True') return <Badge tone="green">{states.applied}</Badge>
  if (ready.reason === 'PendingApproval') return <Badge tone="violet">{states.pending}</Badge>
  return <Badge tone="red">{states.failed}</Badge>
}

/** The page of a source. */
export function SourcePage({
  name,
  realms,
}: {
  readonly name: string
  readonly realms: readonly RealmStateRepresentation[]
}) {
  const sources = useSources()
  const inRealms = useRealmSources()
  const source = sources.data?.find((candidate) => candidate.name === name)
  return (
    <>
      <PageHeader title={name} crumbs={[{ text: texts.sources.title, to: toPath(['sources']) }]}>
        {source && (
          <SourceButtons source={source} inRealms={inRealms.data ?? []} realms={realms} onDone={sources.reload} />
        )}
      </PageHeader>
      <Loaded resource={sources}>
        {() =>
          source ? (
            <SourceDetails source={source} inRealms={inRealms} />
          ) : (
            <Failure error={new CallError(404, '')} retry={sources.reload} />
          )
        }
      </Loaded>
    </>
  )
}

function SourceButtons({
  source,
  inRealms,
  realms,
  onDone,
}: {
  readonly source: SourceStateRepresentation
  readonly inRealms: readonly RealmSourceRepresentation[]
  readonly realms: readonly RealmStateRepresentation[]
  readonly onDone: () => void
}) {
  const [isAsking, setAsking] = useState(false)
  const can = (permission: string) =>
    (source.realms.length ? source.realms : ['master']).every((name) =>
      realms.some(({ realm, permissions }) => realm === name && permissions.includes(permission)),
    )
  const change = async (operation: 'suspend' | 'resume' | 'force', outcome: string) => {
    await call(`regent/v1/source-states/${operation}?source=${encodeURIComponent(source.name)}`, { method: 'POST' })
    announce(outcome)
    onDone()
  }
  const isPaused = isSuspended(source, inRealms)
  return (
    <>
      {can('suspend-sources') &&
        (isPaused ? (
          <ActionButton class="primary" run={() => change('resume', texts.sources.resumed)}>
            {texts.sources.resume}
          </ActionButton>
        ) : (
          <button type="button" onClick={() => setAsking(true)}>
            {texts.sources.suspend}
          </button>
        ))}
      {can('administer-realm') && !isPaused && source.status.attempted && (
        <ActionButton class="primary" run={() => change('force', texts.sources.syncing)}>
          {texts.sources.sync}
        </ActionButton>
      )}
      {isAsking && (
        <ConfirmDialog
          title={texts.sources.suspendQuestion(source.name)}
          confirm={texts.sources.suspend}
          run={() => change('suspend', texts.sources.suspended)}
          onClose={() => setAsking(false)}
        >
          <p>{texts.sources.suspendHint}</p>
        </ConfirmDialog>
      )}
    </>
  )
}

function SourceDetails({
  source,
  inRealms,
}: {
  readonly source: SourceStateRepresentation
  readonly inRealms: RemoteData<readonly RealmSourceRepresentation[]>
}) {
  const { suspended, status } = source
  const { ready, problems = [] } = status
  const isFailed = ready?.status === 'False'
  return (
    <>
      {suspended && (
        <p class="notice">
          <Icon name="pause" />
          <span>
            {texts.sources.suspendedBy(suspended.by)} <Time at={suspended.at} />
            {suspended.renamedTo !== undefined && `, ${texts.sources.renamedTo(suspended.renamedTo)}`}
          </span>
        </p>
      )}
      {isFailed && (
        <div class={ready.reason === 'PendingApproval' ? 'notice violet' : 'notice danger'}>
          <Icon name="alert" />
          <b>{ready.reason}</b>
          <span class="quiet">
            <Time at={ready.since} />
          </span>
          <ul>
            {problems.length ? (
              problems.map(({ file, line, column, message }) => (
                <li key={`${file}:${line}:${column} ${message}`}>
                  <PositionText file={file} line={line} column={column} /> {message}
                </li>
              ))
            ) : (
              <li class="message">{ready.message}</li>
            )}
          </ul>
        </div>
      )}
      <div class="split">
        <section class="panel" aria-labelledby="runs">
          <h2 id="runs">{texts.sources.runs}</h2>
          <Runs source={source} />
        </section>
        <RealmsOfSource name={source.name} inRealms={inRealms} />
      </div>
    </>
  )
}

function Runs({ source: { status } }: { readonly source: SourceStateRepresentation }) {
  const { attempts = [], nextTryAt } = status
  if (!attempts.length) return <p class="quiet">{texts.sources.noRuns}</p>
  return (
    <>
      {nextTryAt !== undefined && (
        <p class="quiet">
          {texts.sources.next} <Time at={nextTryAt} />
        </p>
      )}
      <ol class="runs">
        {attempts.map(({ at, revision, message }) => (
          <li key={at}>
            <i class={`dot ${message === undefined ? 'inSync' : 'failed'}`} aria-hidden="true" />
            <div>
              <code>{shortenRevision(revision ?? texts.unknown)}</code>{' '}
              <span class="quiet">
                <Time at={at} />
              </span>
              <p class="message">{message ?? texts.sources.succeeded}</p>
            </div>
          </li>
        ))}
      </ol>
    </>
  )
}

function RealmsOfSource({
  name,
  inRealms,
}: {
  readonly name: string
  readonly inRealms: RemoteData<readonly RealmSourceRepresentation[]>
}) {
  return (
    <section class="panel" aria-labelledby="managed">
      <h2 id="managed">{texts.sources.realms}</h2>
      <Loaded resource={inRealms}>
        {(sources) => (
          <ul class="plain-list">
            {!sources.some(({ source }) => source === name) && <li class="quiet">{texts.none}</li>}
            {sources
              .filter(({ source }) => source === name)
              .map(({ realm, revision, appliedAt, objects, changed, suspended, settings }) => (
                <li key={realm}>
                  <Link to={toPath(['realms', realm])} class="name">
                    {realm}
                  </Link>{' '}
                  <span class="quiet">
                    {texts.sources.objects(objects)}
                    {changed > 0 && `, ${texts.sources.changed(changed)}`} · <code>{shortenRevision(revision)}</code>{' '}
                    <Time at={appliedAt} />
                  </span>
                  <p class="quiet">{describeSettings(settings)}</p>
                  {suspended && (
                    <p class="problem">{texts.sources.rolledBack(realm, suspended.revision, suspended.by)}</p>
                  )}
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </section>
  )
}

/** Returns the settings of a source as a text, with the defaults where it declares none. */
function describeSettings({ prune, ownership, guards, drift = [] }: RealmSourceRepresentation['settings']): string {
  const { deletions = 20, share = 0.5 } = guards ?? {}
  return [
    texts.sources.settings(prune ?? 'managed', ownership ?? 'allow'),
    texts.sources.guards(deletions, share),
    ...drift.map(({ kind, path, policy }) =>
      texts.sources.driftRule([kind, path].filter(Boolean).join(' ') || texts.sources.everything, policy),
    ),
  ].join(' · ')
}
