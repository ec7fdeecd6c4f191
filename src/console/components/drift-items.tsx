// Drifted fields and objects, with the actions that end the drift: correct, or accept.
import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import type { AcceptedDriftRepresentation, DriftRepresentation, RealmStateRepresentation } from '../api-types.ts'
import { formatKey } from '../format.ts'
import { useResource } from '../resource.ts'
import { texts } from '../texts.ts'
import { Actor, Badge, ObjectLink, PositionText } from './basics.tsx'
import { announce, ConfirmDialog, Dialog } from './dialog.tsx'
import { Loaded } from './states.tsx'
import { ChangedValue, toText } from './value-diff.tsx'
import { YamlText } from './yaml-text.tsx'

/** A list of drift. */
export function DriftItems({
  realm,
  drift,
}: {
  readonly realm: RealmStateRepresentation
  readonly drift: readonly DriftRepresentation[]
}) {
  const [accepted, setAccepted] = useState<DriftRepresentation>()
  const [source, setSource] = useState<string>()
  const mayCorrect = realm.permissions.includes('administer-realm')
  return (
    <>
      <ul class="list drift-list">
        {drift.map((item) => (
          <li key={`${item.source} ${item.kind} ${formatKey(item.key)} ${item.path}`}>
            <div class="what">
              <ObjectLink realm={realm.realm} kind={item.kind} objectKey={item.key} />
              {item.path !== undefined && <code>{item.path}</code>}
              {item.policy !== 'correct' && <Badge>{texts.drift.policies[item.policy]}</Badge>}
            </div>
            <div class="right buttons-inline">
              <button type="button" class="small" onClick={() => setAccepted(item)}>
                {texts.drift.accept}
              </button>
              {mayCorrect && item.policy !== 'report' && (
                <button type="button" class="small" onClick={() => setSource(item.source)}>
                  {texts.drift.correct}
                </button>
              )}
            </div>
            <div class="wide">
              <DriftValue drift={item} />
            </div>
            <p class="wide quiet">
              {item.by && (
                <>
                  <Actor by={item.by} /> ·{' '}
                </>
              )}
              {item.source} <PositionText file={item.file} line={item.line} />
            </p>
          </li>
        ))}
      </ul>
      {source !== undefined && (
        <CorrectDialog
          source={source}
          count={drift.filter((candidate) => candidate.source === source && candidate.policy !== 'report').length}
          onClose={() => setSource(undefined)}
        />
      )}
      {accepted && <AcceptDialog realm={realm.realm} drift={accepted} onClose={() => setAccepted(undefined)} />}
    </>
  )
}

function DriftValue({ drift: { path, applied, live, encrypted } }: { readonly drift: DriftRepresentation }) {
  if (path === undefined) return <span class="problem">{texts.drift.deletedObject}</span>
  if (encrypted) return <span class="quiet">{texts.drift.encryptedChanged}</span>
  if (applied === undefined && live === undefined) return <span class="quiet">{texts.drift.secretChanged}</span>
  return <ChangedValue change={{ from: applied ?? null, to: live ?? null }} />
}

/** Asks to reconcile a source, which corrects its drift. */
export function CorrectDialog({
  source,
  count,
  onClose,
}: {
  readonly source: string
  readonly count: number
  readonly onClose: () => void
}) {
  const run = async () => {
    await call(`regent/v1/source-states/force?source=${encodeURIComponent(source)}`, { method: 'POST' })
    announce(texts.drift.correcting(source))
  }
  return (
    <ConfirmDialog
      title={texts.drift.correctQuestion(source)}
      confirm={texts.drift.correct}
      run={run}
      onClose={onClose}
    >
      <p>{texts.drift.correctHint(count, source)}</p>
    </ConfirmDialog>
  )
}

function AcceptDialog({
  realm,
  drift,
  onClose,
}: {
  readonly realm: string
  readonly drift: DriftRepresentation
  readonly onClose: () => void
}) {
  const accepted = useResource<AcceptedDriftRepresentation>(
    `regent/v1/accept/${encodeURIComponent(realm)}?users=${drift.kind === 'user'}`,
  )
  return (
    <Dialog title={texts.drift.acceptTitle} onClose={onClose}>
      <p>{texts.drift.acceptHint}</p>
      <Loaded resource={accepted}>
        {({ edits }) => (
          <>
            {edits
              .filter(
                (edit) =>
                  edit.kind === drift.kind && edit.path === drift.path && formatKey(edit.key) === formatKey(drift.key),
              )
              .map((edit) => (
                <div key={`${edit.source} ${edit.file} ${edit.line}`} class="edit">
                  <p>
                    {edit.source} <PositionText file={edit.file} line={edit.line} />
                  </p>
                  {edit.path === undefined ? (
                    <p>{texts.drift.acceptRemoval}</p>
                  ) : edit.encrypted ? (
                    <p>{texts.drift.acceptEncrypted}</p>
                  ) : edit.live === undefined ? (
                    <p>{texts.drift.acceptSecret}</p>
                  ) : (
                    <YamlText text={`${edit.path.split('.').at(-1)}: ${toYamlValue(edit.live)}`} />
                  )}
                </div>
              ))}
          </>
        )}
      </Loaded>
      <div class="buttons">
        <button type="button" onClick={onClose}>
          {texts.close}
        </button>
      </div>
    </Dialog>
  )
}

/** Returns a value in YAML: JSON is YAML too. */
function toYamlValue(value: DriftRepresentation['live']): string {
  if (
    typeof value === 'string' &&
    /^[A-Za-z][\w ./-]*$/.test(value) &&
    !/^(?:true|false|null|yes|no|on|off)$/i.test(value)
  )
    return value
  return typeof value === 'object' && value !== null ? toText(value) : JSON.stringify(value)
}
