// Dialogs that ask before a change, and the announcement of its outcome. A change counts as done when the server has confirmed it.
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { toMessage } from '../api.ts'
import { texts } from '../texts.ts'

/** The outcome that was announced last. */
export const announcement = signal('')

let forgetting: ReturnType<typeof setTimeout> | undefined

/** Announces the outcome of a change. */
export function announce(text: string): void {
  announcement.value = text
  clearTimeout(forgetting)
  forgetting = setTimeout(() => {
    announcement.value = ''
  }, 6_000)
}

/** A modal dialog. `onClose` is called when the user leaves it. */
export function Dialog({
  title,
  children,
  onClose,
}: {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose: () => void
}) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

/** A question before a change, with a button that makes it. */
export function ConfirmDialog({
  title,
  confirm,
  isDangerous = false,
  children,
  run,
  onClose,
}: {
  readonly title: string
  readonly confirm: string
  readonly isDangerous?: boolean
  readonly children: ComponentChildren
  /** Makes the change. Its error is shown. */
  readonly run: () => Promise<unknown>
  readonly onClose: () => void
}) {
  const [error, setError] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const submit = async () => {
    if (isRunning) return
    setRunning(true)
    setError(undefined)
    try {
      await run()
      onClose()
    } catch (failure) {
      setError(toMessage(failure))
    } finally {
      setRunning(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {children}
        {error !== undefined && (
          <p class="notice danger" role="alert">
            {error}
          </p>
        )}
        <div class="buttons">
          <button type="button" class="plain" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} aria-busy={isRunning} disabled={isRunning}>
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** A button that makes a change at once, and shows its error beside it. */
export function ActionButton({
  children,
  run,
  class: className = '',
}: {
  readonly children: ComponentChildren
  readonly run: () => Promise<unknown>
  readonly class?: string
}) {
  const [error, setError] = useState<string>()
  const [isRunning, setRunning] = useState(false)
  const press = async () => {
    setRunning(true)
    setError(undefined)
    await run().catch((failure: unknown) => setError(toMessage(failure)))
    setRunning(false)
  }
  return (
    <>
      <button type="button" class={className} aria-busy={isRunning} disabled={isRunning} onClick={() => void press()}>
        {children}
      </button>
      {error !== undefined && (
        <span class="problem" role="alert">
          {error}
        </span>
      )}
    </>
  )
}
