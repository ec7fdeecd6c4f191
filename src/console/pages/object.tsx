// One object: its declaration, where its values come from, its drift and its history.
import { useState } from 'preact/hooks'
import type {
  DriftRepresentation,
  FieldProvenanceRepresentation,
  InspectedObjectRepresentation,
  NaturalKey,
  RealmStateRepresentation,
} from '../api-types.ts'
import { FieldChanges } from '../components/action-list.tsx'
import { Actor, Badge, OperationSign, PositionText, Time } from '../components/basics.tsx'
import { DriftItems } from '../components/drift-items.tsx'
import { PageHeader } from '../components/layout.tsx'
import { Loaded } from '../components/states.tsx'
import { Value } from '../components/value-diff.tsx'
import { YamlText } from '../components/yaml-text.tsx'
import { formatKey, shortenRevision, toWords } from '../format.ts'
import { root, toPath } from '../location.ts'
import { useResource } from '../resource.ts'
import { texts } from '../texts.ts'

/** The page of an object. */
export function ObjectPage({
  realm,
  kind,
  objectKey,
}: {
  readonly realm: RealmStateRepresentation
  readonly kind: string
  readonly objectKey: NaturalKey
}) {
  const name = realm.realm
  const query = new URLSearchParams([['kind', kind], ...objectKey.map((part) => ['key', part])])
  const object = useResource<InspectedObjectRepresentation>(`regent/v1/object/${encodeURIComponent(name)}?${query}`, {
    topics: ['revisions', 'drift'],
    realm: name,
  })
  const crumbs = [
    { text: name, to: toPath(['realms', name]) },
    { text: toWords(kind), to: toPath(['realms', name, 'objects', kind]) },
  ]
  const url = object.data?.url
  return (
    <>
      <PageHeader title={formatKey(objectKey)} crumbs={crumbs}>
        {url !== undefined && (
          <code class="quiet" title={texts.object.rest}>
            {root}
            {url.slice(1)}
          </code>
        )}
      </PageHeader>
      {realm.permissions.includes('accept-drift') && <OwnDrift realm={realm} kind={kind} objectKey={objectKey} />}
      <Loaded resource={object}>{(loaded) => <ObjectDetails object={loaded} />}</Loaded>
    </>
  )
}

function OwnDrift({
  realm,
  kind,
  objectKey,
}: {
  readonly realm: RealmStateRepresentation
  readonly kind: string
  readonly objectKey: NaturalKey
}) {
  const name = realm.realm
  const drift = useResource<readonly DriftRepresentation[]>(`regent/v1/drift?realm=${encodeURIComponent(name)}`, {
    topics: ['drift', 'revisions'],
    realm: name,
  })
  const objectDrift = (drift.data ?? []).filter(
    (candidate) => candidate.kind === kind && formatKey(candidate.key) === formatKey(objectKey),
  )
  if (!objectDrift.length) return null
  return (
    <section aria-labelledby="drift" class="spaced">
      <h2 id="drift">{texts.drift.title}</h2>
      <DriftItems realm={realm} drift={objectDrift} />
    </section>
  )
}

function ObjectDetails({ object: { yaml, provenance, history } }: { readonly object: InspectedObjectRepresentation }) {
  return (
    <div class={provenance || history ? 'split' : ''}>
      <div class="stack">
        {provenance && (
          <section class="panel" aria-labelledby="provenance">
            <h2 id="provenance">{texts.object.provenance}</h2>
            {!provenance.isJournalComplete && <p class="quiet">{texts.object.incomplete}</p>}
            {provenance.fields.length ? (
              <Provenance fields={provenance.fields} />
            ) : (
              <p class="quiet">{texts.object.provenanceEmpty}</p>
            )}
          </section>
        )}
        {history && (
          <section class="panel" aria-labelledby="changes">
            <h2 id="changes">{texts.object.history}</h2>
            <History history={history} />
          </section>
        )}
      </div>
      <section class="panel" aria-labelledby="declaration">
        <h2 id="declaration">{texts.object.declaration}</h2>
        <p class="quiet">{texts.object.declarationHint}</p>
        <YamlText text={yaml} />
      </section>
    </div>
  )
}

function Provenance({ fields }: { readonly fields: readonly FieldProvenanceRepresentation[] }) {
  return (
    <dl class="provenance">
      {fields.map(({ path, value, encrypted, declarations, by }) => (
        <div key={path}>
          <dt>
            <code>{path}</code>
          </dt>
          <dd>{encrypted ? <span class="quiet">{texts.encrypted}</span> : <Value value={value} />}</dd>
          <dd class="quiet">
            {declarations.map(({ source, revision, file, line }) => (
              <span key={`${source} ${file} ${line}`}>
                {source} <code>{shortenRevision(revision)}</code> <PositionText file={file} line={line} />{' '}
              </span>
            ))}
            {by && (declarations.some(({ source }) => source === by.name) ? <Time at={by.at} /> : <Actor by={by} />)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function History({ history }: { readonly history: NonNullable<InspectedObjectRepresentation['history']> }) {
  const [count, setCount] = useState(10)
  if (!history.length) return <p class="quiet">{texts.object.historyEmpty}</p>
  return (
    <>
      <ol class="timeline">
        {history.slice(0, count).map(({ revision, operation, by, changes }) => (
          <li key={revision}>
            <p>
              <OperationSign operation={operation} /> <Badge>r{revision}</Badge> {texts.object[operation]} {texts.by}{' '}
              <Actor by={by} />
            </p>
            {changes.length > 0 && <FieldChanges changes={changes} />}
          </li>
        ))}
      </ol>
      {count < history.length && (
        <button type="button" class="small" onClick={() => setCount(history.length)}>
          {texts.more}
        </button>
      )}
    </>
  )
}
