// The actions of a plan or of a comparison, object by object and field by field.

import { useState } from 'preact/hooks'
import type { ActionOperation, ActionRepresentation, ChangeRepresentation } from '../api-types.ts'
import { formatKey, toWords } from '../format.ts'
import { texts } from '../texts.ts'
import { Actor, ObjectName, OperationSign, PositionText } from './basics.tsx'
import { SearchInput } from './search-field.tsx'
import { ChangedValue } from './value-diff.tsx'

/** Up to so many actions are open at first. More get a search. */
const MOST_OPEN = 12
/** Actions that are visibleActions at once. */
const PAGE = 200
/** A list of actions with a search. */
export function ActionList({ actions }: { readonly actions: readonly ActionRepresentation[] }) {
  const [search, setSearch] = useState('')
  const [shownCount, setShownCount] = useState(PAGE)
  const [isOpen, setOpen] = useState(actions.length <= MOST_OPEN)
  const matching = search ? actions.filter((action) => describe(action).includes(search.toLowerCase())) : actions
  const visibleActions = matching.slice(0, shownCount)
  return (
    <>
      {actions.length > MOST_OPEN && (
        <div class="toolbar">
          <SearchInput label={texts.plans.filter} value={search} onInput={setSearch} />
          <span class="quiet" role="status">
            {texts.plans.matches(matching.length, actions.length)}
          </span>
          <button type="button" class="small" onClick={() => setOpen(!isOpen)}>
            {isOpen ? texts.plans.collapseAll : texts.plans.expandAll}
          </button>
        </div>
      )}
      <ul class="changes">
        {visibleActions.map((action) => (
          <ActionItem key={describe(action)} action={action} isOpenAtFirst={isOpen} />
        ))}
      </ul>
      {visibleActions.length < matching.length && (
        <button type="button" class="more" onClick={() => setShownCount(shownCount + PAGE)}>
          {texts.more}
        </button>
      )}
    </>
  )
}

function describe({ operation, kind, key }: ActionRepresentation): string {
  return `${operation} ${toWords(kind)} ${formatKey(key)}`.toLowerCase()
}

function ActionItem({
  action,
  isOpenAtFirst,
}: {
  readonly action: ActionRepresentation
  readonly isOpenAtFirst: boolean
}) {
  const { operation, kind, key, changes, deletedBy, deletion } = action
  const position = deletion?.file === undefined ? action.position : { file: deletion.file, line: deletion.line ?? 1 }
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const [before, setBefore] = useState(isOpenAtFirst)
  if (before !== isOpenAtFirst) {
    setBefore(isOpenAtFirst)
    setOpen(isOpenAtFirst)
  }
  const title = (
    <>
      <OperationSign operation={operation} />
      <span class="object-name">
        <ObjectName kind={kind} objectKey={key} />
      </span>
      <span class="right quiet">
        {deletedBy && <Actor by={deletedBy} />}{' '}
        {changes.length > 0 ? texts.plans.fields(changes.length) : position && <PositionText {...position} />}
      </span>
    </>
  )
  if (!changes.length)
    return (
      <li>
        <div class="row">{title}</div>
      </li>
    )
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{title}</summary>
        {isOpen && <FieldChanges changes={changes} />}
      </details>
    </li>
  )
}

/** The changed fields of an object. */
export function FieldChanges({ changes }: { readonly changes: readonly ChangeRepresentation[] }) {
  return (
    <dl class="fields">
      {changes.map((change) => (
        <div key={change.path}>
          <dt>{change.path}</dt>
          <dd>
            <ChangedValue change={change} />
          </dd>
          <dd class="origin">
            {change.reason !== undefined && change.reason !== 'declared' && <>{texts.plans.reasons[change.reason]} </>}
            {change.by && <Actor by={change.by} />} {change.position && <PositionText {...change.position} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The numbers of actions by operation. */
export function ActionCounts({ actions }: { readonly actions: readonly { readonly operation: ActionOperation }[] }) {
  const count = (operation: ActionOperation) => actions.filter((action) => action.operation === operation).length
  return <Counts created={count('create')} updated={count('update')} deleted={count('delete')} />
}

/** Numbers of objects by operation. */
export function Counts({
  created,
  updated,
  deleted,
}: {
  readonly created: number
  readonly updated: number
  readonly deleted: number
}) {
  return (
    <span class="counts">
      <span class="hidden">{texts.counts(created, updated, deleted)}</span>
      {created > 0 && (
        <span class="create" aria-hidden="true">
          +{created}
        </span>
      )}
      {updated > 0 && (
        <span class="update" aria-hidden="true">
          ~{updated}
        </span>
      )}
      {deleted > 0 && (
        <span class="delete" aria-hidden="true">
          −{deleted}
        </span>
      )}
    </span>
  )
}
