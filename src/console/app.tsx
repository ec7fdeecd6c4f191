// Chooses the page of the address.
import type { RealmState } from './api-types.ts'
import { Layout, PageHeader } from './components/layout.tsx'
import { Failure } from './components/states.tsx'
import { ApiError } from './api.ts'
import { address } from './location.ts'
import { OverviewPage } from './pages/overview.tsx'
import { type Resource, useResource } from './resource.ts'
import { texts } from './texts.ts'

/** The most realms that are read. Others are found by their name. */
const MOST_REALMS = 200

/** The console after the log-in. */
export function App() {
  const realms = useResource<readonly RealmState[]>(`regent/v1/realms?max=${MOST_REALMS}`, {
    topics: ['sources', 'plans', 'drift', 'revisions'],
  })
  return (
    <Layout realms={realms}>
      <Page realms={realms} />
    </Layout>
  )
}

function Page({ realms }: { readonly realms: Resource<readonly RealmState[]> }) {
  const [section = ''] = address.value.segments
  if (section === '') return <OverviewPage realms={realms} />
  return <MissingPage />
}

function MissingPage() {
  return (
    <>
      <PageHeader title={texts.errors.notFound} />
      <Failure error={new ApiError(404, '')} retry={() => {}} />
    </>
  )
}
