// The plan of a realm with its consequences, affected users, lint and notes.
import type { RealmOutcomeRepresentation } from '../api-types.ts'
import { formatKey, toWords } from '../format.ts'
import { texts } from '../texts.ts'
import { ActionCounts, ActionList } from './action-list.tsx'
import { Badge, ObjectName, OperationSign, PositionText } from './basics.tsx'
import { Empty } from './states.tsx'

/** The plan of one realm. */
export function OutcomeView({ outcome }: { readonly outcome: RealmOutcomeRepresentation }) {
  const { plan, consequences, effects } = outcome
  return (
    <section class="outcome" aria-label={plan.realm}>
      <div class="toolbar">
        <h2>{plan.realm}</h2>
        {plan.creates && <Badge tone="green">{texts.plans.newRealm}</Badge>}
        <ActionCounts actions={plan.actions} />
      </div>
      <div class="stack">
        {effects.length > 0 && (
          <div class="panel">
            <h3>{texts.plans.effects}</h3>
            <ul>
              {effects.map(({ kind, key, effect, count }) => (
                <li key={`${kind} ${formatKey(key)} ${effect}`}>
                  <ObjectName kind={kind} objectKey={key} />:{' '}
                  {texts.plans.effectNames[effect]?.(count) ?? `${effect} ${count}`}
                </li>
              ))}
            </ul>
          </div>
        )}
        {plan.actions.length ? <ActionList actions={plan.actions} /> : <Empty title={texts.plans.noChanges} />}
        {consequences.length > 0 && (
          <details class="panel">
            <summary>
              <b>{texts.plans.consequences}</b> <span class="quiet">{texts.plans.consequencesHint}</span>{' '}
              <ActionCounts actions={consequences} />
            </summary>
            <ul>
              {consequences.map(({ operation, kind, key }) => (
                <li key={`${operation} ${kind} ${formatKey(key)}`}>
                  <OperationSign operation={operation} /> <ObjectName kind={kind} objectKey={key} />
                </li>
              ))}
            </ul>
          </details>
        )}
        <Remarks outcome={outcome} />
      </div>
    </section>
  )
}

/** The findings of lint, and the notes. */
function Remarks({ outcome: { plan, findings = [] } }: { readonly outcome: RealmOutcomeRepresentation }) {
  return (
    <>
      {findings.length > 0 && (
        <div class="panel">
          <h3>{texts.plans.findings}</h3>
          <ul class="findings">
            {findings.map(({ rule, kind, key, message, position }) => (
              <li key={`${rule} ${kind} ${formatKey(key)} ${message}`}>
                <Badge tone="amber">{rule}</Badge> {toWords(kind)} <b>{formatKey(key)}</b>: {message}{' '}
                <PositionText {...position} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {plan.notes.length > 0 && (
        <div class="panel">
          <h3>{texts.plans.notes}</h3>
          <ul class="findings">
            {plan.notes.map(({ message, position }) => (
              <li key={message}>
                {message} {position && <PositionText {...position} />}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  )
}
