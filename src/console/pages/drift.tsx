// The drift of a realm.
import type { Drift, RealmState } from '../api-types.ts'
import { DriftItems } from '../components/drift-items.tsx'
import { PageHeader } from '../components/layout.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { toPath } from '../location.ts'
import { useResource } from '../resource.ts'
import { texts } from '../texts.ts'

/** The page of drift. */
export function DriftPage({ realm }: { readonly realm: RealmState }) {
  const name = realm.realm
  const drift = useResource<readonly Drift[]>(`regent/v1/drift?realm=${encodeURIComponent(name)}`, {
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
