// The stream of changes. Pages read again what has changed.
import { signal } from '@preact/signals'
import { CallError, openStream } from './api.ts'
import { isSessionOver } from './auth.ts'

/** The subject of a change. */
export type Topic = 'sources' | 'plans' | 'drift' | 'revisions' | 'everything'

/** A change that the server reports. */
export interface Change {
  readonly topic: Topic
  readonly realm?: string
}

/** The state of the connection: `interrupted` after a failure, until it is established again. */
export const connection = signal<'connecting' | 'live' | 'interrupted'>('connecting')

type ChangeListener = (change: Change) => void

const listeners = new Set<ChangeListener>()

/** Milliseconds until the next attempt, by the number of failures. */
const DELAYS = [0, 500, 1_000, 2_000, 5_000, 10_000]

/** Calls the listener with each change. Returns a function that ends that. */
export function onChange(listener: ChangeListener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Keeps the stream open for as long as the page is. */
export async function follow(): Promise<void> {
  let failures = 0
  for (;;) {
    try {
      await readStream(() => {
        failures = 0
        connection.value = 'live'
      })
    } catch (error) {
      failures++
      if (failures > 1) connection.value = 'interrupted'
      if (error instanceof CallError && error.status === 403) failures = DELAYS.length
    }
    await delay(DELAYS[Math.min(failures, DELAYS.length - 1)]!)
    await waitForSession()
  }
}

/** Reads the stream to its end. It ends with the access token. */
async function readStream(begun: () => void): Promise<void> {
  const controller = new AbortController()
  const body = await openStream('regent/v1/events', controller.signal)
  begun()
  let text = ''
  const decoder = new TextDecoder()
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += decoder.decode(value, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) dispatch(event)
  }
}

function dispatch(event: string): void {
  const data = /^data: (.*)$/m.exec(event)?.[1]
  if (data === undefined) return
  const change: Change = JSON.parse(data)
  for (const listener of listeners) listener(change)
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer)
      removeEventListener('online', wake)
      resolve()
    }
    const timer = setTimeout(wake, milliseconds)
    addEventListener('online', wake)
  })
}

function waitForSession(): Promise<void> {
  return new Promise((resolve) => {
    const stop = isSessionOver.subscribe((isOver) => {
      if (!isOver) queueMicrotask(() => stop())
      if (!isOver) resolve()
    })
  })
}
