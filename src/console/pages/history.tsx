// The history of a realm: its revisions, differences between two of them, and rollback.
import { useEffect, useState } from 'preact/hooks'
import { CallError, call } from '../api.ts'
import type {
  ActionRepresentation,
  AttributionRepresentation,
  RealmOutcomeRepresentation,
  RealmStateRepresentation,
  RevisionRepresentation,
} from '../api-types.ts'
import { ActionCounts, ActionList, Counts } from '../components/action-list.tsx'
import { Actor, Badge, Link } from '../components/basics.tsx'
import { announce, ConfirmDialog } from '../components/dialog.tsx'
import { PageHeader } from '../components/layout.tsx'
import { OutcomeView } from '../components/outcome.tsx'
import { Empty, Failure, Loaded, Loading } from '../components/states.tsx'
import { shortenRevision } from '../format.ts'
import { address, navigate, toPath } from '../location.ts'
import { usePages, useResource } from '../resource.ts'
import { texts } from '../texts.ts'

/** Selects revisions before those that were read. */
const toRevisionQuery = (revisions: readonly RevisionRepresentation[], max: number) => {
  const last = revisions.at(-1)
  return `${last ? `before=${last.number}&` : ''}max=${max}`
}

/** The page of the history, of a comparison, or of a rollback. */
export function HistoryPage({ realm: { realm } }: { readonly realm: RealmStateRepresentation }) {
  const { query } = address.value
  const [from, to, revision] = [query.get('from'), query.get('to'), query.get('rollback')]
  if (revision !== null) return <RollbackPage key={revision} realm={realm} revision={Number(revision)} />
  if (from !== null && to !== null) return <ComparePage realm={realm} from={Number(from)} to={Number(to)} />
  return <RevisionsPage realm={realm} />
}

function RevisionsPage({ realm }: { readonly realm: string }) {
  const [chosen, setChosen] = useState<readonly number[]>([])
  const revisions = usePages<RevisionRepresentation>(
    `regent/v1/history/${encodeURIComponent(realm)}?`,
    realm,
    toRevisionQuery,
  )
  const choose = (number: number, isChosen: boolean) =>
    setChosen(isChosen ? [...chosen, number].slice(-2) : chosen.filter((candidate) => candidate !== number))
  const [from, to] = [Math.min(...chosen), Math.max(...chosen)]
  return (
    <>
      <PageHeader title={texts.history.title} crumbs={[{ text: realm, to: toPath(['realms', realm]) }]} />
      <Loaded resource={revisions}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={texts.history.empty} />
          ) : (
            <>
              <ol class="list large revisions">
                {all.map((revision, at) => (
                  <RevisionItem
                    key={revision.number}
                    realm={realm}
                    revision={revision}
                    previous={all[at + 1]?.number}
                    isCurrent={at === 0}
                    isChosen={chosen.includes(revision.number)}
                    choose={choose}
                  />
                ))}
              </ol>
              {revisions.hasMore && (
                <button type="button" class="more" onClick={revisions.showMore}>
                  {texts.more}
                </button>
              )}
              {chosen.length > 0 && (
                <div class="bottom">
                  <span>{chosen.length === 2 ? texts.history.compareTitle(from, to) : texts.history.compareHint}</span>
                  <button
                    type="button"
                    class="primary"
                    disabled={chosen.length < 2}
                    onClick={() => navigate(toPath(['realms', realm, 'history'], { from: `${from}`, to: `${to}` }))}
                  >
                    {texts.history.compare}
                  </button>
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </>
  )
}

function RevisionItem({
  realm,
  revision: { number, at, actor, created, updated, deleted, sources, oldestRetained },
  previous,
  isCurrent,
  isChosen,
  choose,
}: {
  readonly realm: string
  readonly revision: RevisionRepresentation
  readonly previous: number | undefined
  readonly isCurrent: boolean
  readonly isChosen: boolean
  readonly choose: (number: number, isChosen: boolean) => void
}) {
  const by = toAttribution(actor, at)
  return (
    <li>
      <input
        type="checkbox"
        aria-label={texts.history.select(number)}
        checked={isChosen}
        onChange={(event) => choose(number, event.currentTarget.checked)}
      />
      <b class="number">r{number}</b>
      {isCurrent && <Badge tone="green">{texts.history.current}</Badge>}
      <Actor by={by} />
      {(sources ?? []).map(({ name, revision }) => (
        <span key={name} class="quiet">
          {name === by.name ? '' : `${name} `}
          <code>{shortenRevision(revision)}</code>
        </span>
      ))}
      <span class="right buttons-inline">
        <Counts created={created} updated={updated} deleted={deleted} />
        {previous !== undefined && (
          <Link
            class="button small"
            to={toPath(['realms', realm, 'history'], { from: `${previous}`, to: `${number}` })}
          >
            {texts.history.changes}
          </Link>
        )}
        {!isCurrent && (
          <Link class="button small" to={toPath(['realms', realm, 'history'], { rollback: `${number}` })}>
            {texts.history.rollBack}
          </Link>
        )}
      </span>
      {oldestRetained && <p class="wide quiet">{texts.history.oldest}</p>}
    </li>
  )
}

function toAttribution(
  actor: RevisionRepresentation['actor'] & Partial<AttributionRepresentation>,
  at: string,
): AttributionRepresentation {
  const { kind, user, client, source, rolledBackTo } = actor
  return {
    name: user ?? source ?? client ?? kind,
    kind,
    at,
    ...(client !== undefined && { client }),
    ...(rolledBackTo !== undefined && { rolledBackTo }),
  }
}

function toCrumbs(realm: string) {
  return [
    { text: realm, to: toPath(['realms', realm]) },
    { text: texts.history.title, to: toPath(['realms', realm, 'history']) },
  ]
}

function ComparePage({ realm, from, to }: { readonly realm: string; readonly from: number; readonly to: number }) {
  const actions = useResource<readonly ActionRepresentation[]>(
    `regent/v1/diff/${encodeURIComponent(realm)}?from=${from}&to=${to}`,
  )
  return (
    <>
      <PageHeader title={texts.history.compareTitle(from, to)} crumbs={toCrumbs(realm)}>
        {actions.data && <ActionCounts actions={actions.data} />}
      </PageHeader>
      <Loaded resource={actions}>
        {(all) => (all.length ? <ActionList actions={all} /> : <Empty title={texts.history.noChanges} />)}
      </Loaded>
    </>
  )
}

/** Shows the plan of a rollback first. */
function RollbackPage({ realm, revision }: { readonly realm: string; readonly revision: number }) {
  const { outcome, error, retry } = useRollbackPlan(realm, revision)
  const [isAsking, setAsking] = useState(false)
  const path = toRollbackPath(realm)
  const run = async () => {
    await call(path, { method: 'POST', body: { revision }, timeout: 120_000 })
    announce(texts.history.rolledBack(revision))
    navigate(toPath(['realms', realm, 'history']))
  }
  const hasChanges = (outcome?.plan.actions.length ?? 0) > 0
  return (
    <>
      <PageHeader title={texts.history.rollBackTitle(revision)} crumbs={toCrumbs(realm)}>
        {hasChanges && (
          <button type="button" class="danger" onClick={() => setAsking(true)}>
            {texts.history.rollBackConfirm}
          </button>
        )}
      </PageHeader>
      {error ? (
        <Failure error={error} retry={retry} />
      ) : !outcome ? (
        <Loading />
      ) : hasChanges ? (
        <>
          <p class="notice">{texts.history.rollBackHint}</p>
          <OutcomeView outcome={outcome} />
        </>
      ) : (
        <Empty title={texts.history.nothing} />
      )}
      {isAsking && (
        <ConfirmDialog
          title={`${texts.history.rollBackTitle(revision)}?`}
          confirm={texts.history.rollBackConfirm}
          isDangerous
          run={run}
          onClose={() => setAsking(false)}
        >
          <p>
            {texts.changes(outcome?.plan.actions.length ?? 0)}. {texts.history.rollBackHint}
          </p>
        </ConfirmDialog>
      )}
    </>
  )
}

const toRollbackPath = (realm: string) => `regent/v1/rollback/${encodeURIComponent(realm)}`

/** Plans a rollback, without making it. */
function useRollbackPlan(realm: string, revision: number) {
  const [outcome, setOutcome] = useState<RealmOutcomeRepresentation>()
  const [error, setError] = useState<CallError>()
  const [attempt, setAttempt] = useState(0)
  const path = toRollbackPath(realm)
  useEffect(() => {
    const controller = new AbortController()
    setError(undefined)
    call<RealmOutcomeRepresentation>(path, {
      method: 'POST',
      body: { revision, dryRun: true },
      signal: controller.signal,
    }).then(setOutcome, (failure: unknown) => {
      if (!controller.signal.aborted)
        setError(failure instanceof CallError ? failure : new CallError(0, String(failure)))
    })
    return () => controller.abort()
  }, [path, revision, attempt])
  return { outcome, error, retry: () => setAttempt(attempt + 1) }
}
