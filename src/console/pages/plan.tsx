// One saved plan: its changes, and its approval.
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import type { RealmStateRepresentation, SavedPlanWithOutcome } from '../api-types.ts'
import { user } from '../auth.ts'
import { Actor, Time } from '../components/basics.tsx'
import { announce, ConfirmDialog } from '../components/dialog.tsx'
import { Icon } from '../components/icons.tsx'
import { PageHeader } from '../components/layout.tsx'
import { OutcomeView } from '../components/outcome.tsx'
import { Loaded } from '../components/states.tsx'
import { shortenRevision } from '../format.ts'
import { navigate, toPath } from '../location.ts'
import { useResource } from '../resource.ts'
import { texts } from '../texts.ts'
import { PlanBadge } from './plans.tsx'

type Decision = 'approve' | 'apply' | 'reject'

/** Milliseconds for the apply of a large plan. */
const APPLY_TIMEOUT = 300_000

/** The page of a saved plan. */
export function PlanPage({
  id,
  realms,
}: {
  readonly id: string
  readonly realms: readonly RealmStateRepresentation[]
}) {
  const path = `regent/v1/plans/${encodeURIComponent(id)}`
  const plan = useResource<SavedPlanWithOutcome>(path, { topics: ['plans'] })
  const [decision, setDecision] = useState<Decision>()
  const crumbs = [{ text: texts.plans.title, to: toPath(['plans']) }]
  return (
    <>
      <PageHeader title={id} crumbs={crumbs}>
        {plan.data && <Buttons plan={plan.data} realms={realms} choose={setDecision} />}
      </PageHeader>
      <Loaded resource={plan}>
        {(loaded) => (
          <>
            <PlanFacts plan={loaded} />
            <Guards plan={loaded} />
            {loaded.outcome.realms.map((outcome) => (
              <OutcomeView key={outcome.plan.realm} outcome={outcome} />
            ))}
            {decision && (
              <DecisionDialog
                plan={loaded}
                decision={decision}
                onClose={() => setDecision(undefined)}
                onDone={plan.reload}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

function Buttons({
  plan,
  realms,
  choose,
}: {
  readonly plan: SavedPlanWithOutcome
  readonly realms: readonly RealmStateRepresentation[]
  readonly choose: (decision: Decision) => void
}) {
  const isOpen = plan.state === 'pending' || plan.state === 'ready' || plan.state === 'approved'
  if (!isOpen) return null
  const mayApply = plan.realms.every(({ realm: name }) =>
    realms.some(({ realm, permissions }) => realm === name && permissions.includes('administer-realm')),
  )
  const isApplicable = plan.state === 'ready' || (plan.state === 'approved' && !plan.appliesOnApproval)
  return (
    <>
      <button type="button" onClick={() => choose('reject')}>
        {texts.plans.reject}
      </button>
      {plan.state === 'pending' && !isOwn(plan) && (
        <button type="button" class="primary" onClick={() => choose('approve')}>
          {plan.appliesOnApproval ? texts.plans.approveAndApply : texts.plans.approve}
        </button>
      )}
      {isApplicable && mayApply && (
        <button type="button" class="primary" onClick={() => choose('apply')}>
          {texts.plans.apply}
        </button>
      )}
    </>
  )
}

/** Whether the server would refuse the user's approval, since they made the changes. */
const isOwn = ({ authors = [] }: SavedPlanWithOutcome) => authors.includes(user.value?.name ?? '')

function PlanFacts({ plan }: { readonly plan: SavedPlanWithOutcome }) {
  const { state, created, expires, sources, approvedBy, approvedAt } = plan
  return (
    <p class="facts-line">
      <PlanBadge state={state} />
      <span>
        {texts.plans.created} <Actor by={created} />
      </span>
      {sources.map(({ name, revision }) => (
        <span key={name}>
          {name} <code class="quiet">{shortenRevision(revision)}</code>
        </span>
      ))}
      {approvedBy !== undefined && (
        <span>
          {texts.plans.approvedBy(approvedBy)} {approvedAt !== undefined && <Time at={approvedAt} />}
        </span>
      )}
      {state !== 'applied' && state !== 'expired' && (
        <span class="quiet">
          {texts.plans.expires} <Time at={expires} />
        </span>
      )}
    </p>
  )
}

function Guards({ plan }: { readonly plan: SavedPlanWithOutcome }) {
  const guards = plan.realms.flatMap(({ guards }) => guards)
  const isPending = plan.state === 'pending'
  return (
    <>
      {guards.length > 0 && (
        <div class={isPending ? 'notice violet' : 'notice'}>
          <Icon name="alert" />
          <b>{texts.plans.blocked}</b>
          <ul>
            {guards.map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
        </div>
      )}
      {isPending && isOwn(plan) && <p class="notice warning">{texts.plans.ownChanges}</p>}
      {plan.outdated && plan.state !== 'applied' && <p class="notice warning">{texts.plans.outdated}</p>}
    </>
  )
}

function DecisionDialog({
  plan,
  decision,
  onClose,
  onDone,
}: {
  readonly plan: SavedPlanWithOutcome
  readonly decision: Decision
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { id, appliesOnApproval } = plan
  const [withCredentials, setWithCredentials] = useState(false)
  const count = plan.outcome.realms.reduce((sum, { plan: { actions } }) => sum + actions.length, 0)
  const setsCredentials = plan.realms.some(({ guards }) => guards.some(({ credentials }) => credentials !== undefined))
  const run = createDecisions(plan, { withCredentials, onDone })
  const content = {
    approve: [texts.plans.approveQuestion(id), texts.plans.approveHint(count, appliesOnApproval)],
    apply: [texts.plans.applyQuestion(id), texts.plans.applyHint(count)],
    reject: [texts.plans.rejectQuestion(id), texts.plans.rejectHint],
  } as const
  const [title, hint] = content[decision]
  const confirm = decision === 'approve' && appliesOnApproval ? texts.plans.approveAndApply : texts.plans[decision]
  return (
    <ConfirmDialog
      title={title}
      confirm={confirm}
      isDangerous={decision === 'reject'}
      run={run[decision]}
      onClose={onClose}
    >
      <p>{hint}</p>
      {decision === 'approve' && setsCredentials && (
        <label class="tick">
          <input
            type="checkbox"
            checked={withCredentials}
            onChange={(event) => setWithCredentials(event.currentTarget.checked)}
          />
          {texts.plans.withCredentials}
        </label>
      )}
    </ConfirmDialog>
  )
}

/** Returns the functions that make each decision. */
function createDecisions(
  { id, digest, appliesOnApproval }: SavedPlanWithOutcome,
  { withCredentials, onDone }: { readonly withCredentials: boolean; readonly onDone: () => void },
): Readonly<Record<Decision, () => Promise<void>>> {
  const path = `regent/v1/plans/${encodeURIComponent(id)}`
  return {
    approve: async () => {
      await call(`${path}/approve`, { method: 'POST', body: { withCredentials }, timeout: APPLY_TIMEOUT })
      announce(appliesOnApproval ? texts.plans.applied : texts.plans.approved)
      onDone()
    },
    apply: async () => {
      await call(`${path}/apply`, { method: 'POST', body: { digest }, timeout: APPLY_TIMEOUT })
      announce(texts.plans.appliedOnly)
      onDone()
    },
    reject: async () => {
      await call(path, { method: 'DELETE' })
      announce(texts.plans.rejected)
      navigate(toPath(['plans']))
    },
  }
}
