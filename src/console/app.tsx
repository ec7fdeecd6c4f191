// Chooses the page of the address.

import { CallError } from './api.ts'
import type { RealmStateRepresentation } from './api-types.ts'
import { Layout, PageHeader } from './components/layout.tsx'
import { Failure } from './components/states.tsx'
import { address } from './location.ts'
import { MOST_REALMS, OverviewPage } from './pages/overview.tsx'
import { PlanPage } from './pages/plan.tsx'
import { PlansPage } from './pages/plans.tsx'
import { RealmPage } from './pages/realm.tsx'
import { SourcePage, SourcesPage } from './pages/sources.tsx'
import { type RemoteData, useResource } from './resource.ts'
import { texts } from './texts.ts'

/** The console after the log-in. */
export function App() {
  const realms = useResource<readonly RealmStateRepresentation[]>(`regent/v1/realms?max=${MOST_REALMS}`, {
    topics: ['sources', 'plans', 'drift', 'revisions'],
  })
  return (
    <Layout realms={realms}>
      <Page realms={realms} />
    </Layout>
  )
}

function Page({ realms }: { readonly realms: RemoteData<readonly RealmStateRepresentation[]> }) {
  const [section = '', name] = address.value.segments
  const all = realms.data ?? []
  if (section === '') return <OverviewPage realms={realms} />
  if (section === 'plans' && name === undefined) return <PlansPage />
  if (section === 'plans' && name !== undefined) return <PlanPage key={name} id={name} realms={all} />
  if (section === 'sources' && name === undefined) return <SourcesPage />
  if (section === 'sources' && name !== undefined) return <SourcePage key={name} name={name} realms={all} />
  if (section === 'realms' && name !== undefined) return <RealmPage realms={realms} />
  return <MissingPage />
}

function MissingPage() {
  return (
    <>
      <PageHeader title={texts.errors.notFound} />
      <Failure error={new CallError(404, '')} retry={() => {}} />
    </>
  )
}
