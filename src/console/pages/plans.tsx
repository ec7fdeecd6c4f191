// Saved plans: the list of them.
import type { SavedPlanRepresentation } from '../api-types.ts'
import { Actor, Badge, Link, Time } from '../components/basics.tsx'
import { PageHeader } from '../components/layout.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { shortenRevision } from '../format.ts'
import { toPath } from '../location.ts'
import { useResource } from '../resource.ts'
import { texts } from '../texts.ts'

const tones: Readonly<Record<SavedPlanRepresentation['state'], string>> = {
  pending: 'violet',
  approved: 'green',
  ready: 'amber',
  applied: 'green',
  expired: 'plain',
}

/** The state of a saved plan. */
export function PlanBadge({ state }: { readonly state: SavedPlanRepresentation['state'] }) {
  return <Badge tone={tones[state]}>{texts.plans.states[state]}</Badge>
}

/** The page of all saved plans that the user may approve. */
export function PlansPage() {
  const plans = useResource<readonly SavedPlanRepresentation[]>('regent/v1/plans', { topics: ['plans', 'revisions'] })
  const { columns } = texts.plans
  return (
    <>
      <PageHeader title={texts.plans.title} />
      <Loaded resource={plans}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={texts.plans.empty} hint={texts.plans.emptyHint} />
          ) : (
            <table>
              <thead>
                <tr>
                  <th scope="col">{columns.plan}</th>
                  <th scope="col">{columns.state}</th>
                  <th scope="col">{columns.realms}</th>
                  <th scope="col">{columns.sources}</th>
                  <th scope="col">{columns.created}</th>
                  <th scope="col">{columns.expires}</th>
                </tr>
              </thead>
              <tbody>
                {all.map((plan) => (
                  <PlanRow key={plan.id} plan={plan} />
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </>
  )
}

function PlanRow({
  plan: { id, state, realms, sources, created, expires },
}: {
  readonly plan: SavedPlanRepresentation
}) {
  const { columns } = texts.plans
  return (
    <tr>
      <th scope="row" data-label={columns.plan}>
        <Link to={toPath(['plans', id])} class="name">
          {id}
        </Link>
      </th>
      <td data-label={columns.state}>
        <PlanBadge state={state} />
      </td>
      <td data-label={columns.realms}>{realms.map(({ realm }) => realm).join(', ')}</td>
      <td data-label={columns.sources}>
        {sources.map(({ name, revision }) => (
          <div key={name}>
            {name} <code class="quiet">{shortenRevision(revision)}</code>
          </div>
        ))}
      </td>
      <td data-label={columns.created}>
        <Actor by={created} />
      </td>
      <td data-label={columns.expires}>{state !== 'applied' && <Time at={expires} />}</td>
    </tr>
  )
}
