// Errors as text for people: what, where, and what to do.

import { messageOf } from '../lib/message-of.ts'
import type { Position } from '../lib/position.ts'
import { renderPosition } from '../realm-file/yaml/problem.ts'
import type { StaleObject } from '../reconcile/plan/stale.ts'
import { renderStale } from '../reconcile/report/approvals.ts'

/** An answer of the API that is none of success. */
export class ApiError extends Error {
  readonly status: number
  readonly problems: readonly { position: Position; message: string }[]
  /** What has changed since a plan was made. */
  readonly stale: readonly StaleObject[]
  constructor(status: number, body: unknown) {
    const said = (body ?? {}) as {
      error?: string
      error_description?: string
      errorMessage?: string
      problems?: ApiError['problems']
      stale?: ApiError['stale']
    }
    super(said.errorMessage ?? said.error_description ?? said.error ?? `the server answered ${status}`)
    this.status = status
    this.problems = said.problems ?? []
    this.stale = said.stale ?? []
  }
}

/** What to tell about an error: its problems with their places, or its message. */
export function report(error: unknown): string {
  const { problems } = error as { problems?: ApiError['problems'] }
  if (problems?.length)
    return problems.map(({ position, message }) => `${renderPosition(position)}: ${message}`).join('\n')
  if (error instanceof ApiError && error.stale.length) return `${error.message}\n${renderStale(error.stale)}`
  const { code, message, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (code === 'EADDRINUSE') return `port ${port} is taken: stop what listens there, or choose another with --port`
  if (code === 'EACCES' && port) return `port ${port} may not be listened on: choose one above 1023 with --port`
  if (code === 'ECONNREFUSED')
    return `the database at ${address}:${port} does not answer: start it, or name another with --database`
  if (code === 'ENOTFOUND') return `the database's host is not known: look at --database (REGENT_DATABASE)`
  if (code === '28P01' || code === '28000')
    return `the database refuses the log-in: look at user and password in --database (${message})`
  if (code === '3D000') return `${message}: create it, or name another with --database`
  return messageOf(error)
}
