// What a page shows instead of its data: that it loads, that there is none, or why it could not be loaded.
import type { ComponentChildren } from 'preact'
import type { CallError } from '../api.ts'
import { toPath } from '../location.ts'
import type { RemoteData } from '../resource.ts'
import { texts } from '../texts.ts'
import { Link } from './basics.tsx'
import { Icon } from './icons.tsx'

/** Shows the data of a resource, or its state. */
export function Loaded<T>({
  resource,
  children,
}: {
  readonly resource: RemoteData<T>
  readonly children: (data: T) => ComponentChildren
}) {
  const { data, error, reload } = resource
  if (data === undefined) return error ? <Failure error={error} retry={reload} /> : <Loading />
  return (
    <>
      {error && (
        <p class="notice warning" role="alert">
          <Icon name="alert" />
          <span>
            {error.message} {texts.errors.stale}
          </span>
          <button type="button" class="small" onClick={reload}>
            {texts.retry}
          </button>
        </p>
      )}
      {children(data)}
    </>
  )
}

/** Lines in the place of text that loads. */
export function Loading() {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">{texts.loading}</span>
      <i />
      <i />
      <i />
    </div>
  )
}

/** The reason why data could not be loaded, and a way on. */
export function Failure({ error, retry }: { readonly error: CallError; readonly retry: () => void }) {
  const isForbidden = error.status === 403
  const isMissing = error.status === 404
  const title = isForbidden ? texts.errors.forbidden : isMissing ? texts.errors.notFound : texts.errors.title
  const hint = isMissing ? texts.errors.notFoundHint : isForbidden ? texts.errors.forbiddenHint : error.message
  return (
    <div class="blank" role="alert">
      <h2>{title}</h2>
      <p>{hint}</p>
      {isForbidden || isMissing ? (
        <Link to={toPath([])} class="button">
          {texts.errors.toOverview}
        </Link>
      ) : (
        <button type="button" onClick={retry}>
          {texts.retry}
        </button>
      )}
    </div>
  )
}

/** A page or list without content. */
export function Empty({ title, hint }: { readonly title: string; readonly hint?: string | undefined }) {
  return (
    <div class="blank">
      <h2>{title}</h2>
      {hint !== undefined && <p>{hint}</p>}
    </div>
  )
}
