// Renders errors for the terminal: what happened, where, and what to do.

import { getErrorMessage } from '../lib/error-message.ts'
import { findNearestWord } from '../lib/nearest-word.ts'
import { formatMessages, type SourcePosition } from '../lib/source-position.ts'
import { FORMAT_VERSION } from '../reconcile/model/action.ts'
import type { StaleObject } from '../reconcile/plan/stale.ts'
import { renderStaleObjects } from '../reconcile/report/approval-text.ts'

/** A response of the API with a status of 400 or more. */
export class ApiError extends Error {
  readonly status: number
  readonly problems: readonly { position: SourcePosition; message: string }[]
  /** The objects that changed since a plan was created. */
  readonly stale: readonly StaleObject[]
  /** `path`: of the request, below the server's URL, which names the realm. `requestId`: leads to the log of an unexpected error. */
  constructor(
    status: number,
    body: unknown,
    { path = '', requestId }: { readonly path?: string; readonly requestId?: string | undefined } = {},
  ) {
    const error = (body ?? {}) as {
      error?: string
      error_description?: string
      errorMessage?: string
      problems?: ApiError['problems']
      stale?: ApiError['stale']
    }
    const message = error.errorMessage ?? error.error_description ?? error.error
    const text = message === undefined ? `The server returned status ${status}.` : completeMessage(message, path)
    super(status >= 500 && requestId && !text.includes(requestId) ? `${text} The request id is ${requestId}.` : text)
    this.status = status
    this.problems = error.problems ?? []
    this.stale = error.stale ?? []
  }
}

/** Adds to a message of Keycloak's API what happened where, and what to do. */
function completeMessage(message: string, path: string): string {
  const { pathname, searchParams } = new URL(path, 'http://regent')
  if (message === 'HTTP 401 Unauthorized')
    return `${message}: the access token is invalid or has expired. Pass a new one with --token, or --user and --password.`
  if (message === 'HTTP 403 Forbidden') return `${message}: ${describeMissingRole(pathname)}`
  if (message === 'HTTP 404 Not Found') return `There is nothing at ${pathname}. Check the path and the names in it.`
  const pathRealm = /^\/(?:admin\/realms|regent\/v1\/[a-z]+)\/([^/]+)/.exec(pathname)?.[1]
  const realm = searchParams.get('realm') ?? (pathRealm && decodeURIComponent(pathRealm))
  return message === 'Realm not found.' && realm ? `There is no realm ${realm}. Check its name.` : message
}

/** Returns the realm that an error misses; undefined for other errors. */
export function findMissingRealm(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.status !== 404) return undefined
  return /^There is no realm (.+)\. Check its name\.$/.exec(error.message)?.[1]
}

/** Renders that there is no realm of that name, with the name that was probably meant, or the existing ones. */
export function renderMissingRealm(realm: string, existing: readonly string[]): string {
  const similar = findNearestWord(realm, existing)
  const names = existing.slice(0, MAX_REALMS).join(', ')
  const advice =
    similar === undefined
      ? `The realms are ${names}${existing.length > MAX_REALMS ? ', …' : ''}.`
      : `Did you mean ${similar}?`
  return `There is no realm ${realm}. ${advice}`
}

/** Realms that a message lists. */
const MAX_REALMS = 10

function describeMissingRole(pathname: string): string {
  if (pathname === '/regent/v1/backup') return 'this requires the role admin of the master realm.'
  return pathname.startsWith('/regent/')
    ? 'this requires the role realm-admin of the realm, or the role admin of the master realm.'
    : 'your user lacks a role. Ask an administrator of the realm for it.'
}

/** Returns the problems of documents in an error. */
const getProblems = (error: unknown): ApiError['problems'] => (error as Partial<ApiError>).problems ?? []

/** Returns an error in the format of `--output json`. */
export function toErrorJson(error: unknown): object {
  return {
    formatVersion: FORMAT_VERSION,
    error: {
      message: renderError(error),
      ...(error instanceof ApiError && { status: error.status }),
      problems: getProblems(error).map(({ position: { file, line, column }, message }) => ({
        file,
        line,
        column,
        message,
      })),
    },
  }
}

/** An error with a code: of the system, of the database, or of the data folder. */
interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string
  readonly port?: number
  /** The URL of the server that has the data folder open. */
  readonly url?: string
}

/** Errors of files and folders, by code. */
const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'the file or folder cannot be read or written',
  EPERM: 'the file or folder cannot be read or written',
  EROFS: 'the file system is read-only',
  EISDIR: 'this is a folder, not a file',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EEXIST: 'this exists, and is no folder',
  ENOTEMPTY: 'the folder is not empty',
  EBUSY: 'the file or folder is in use',
  ENOSPC: 'there is no space left',
}

/** Renders an error: its problems with their positions, or its message. */
export function renderError(error: unknown): string {
  const problems = getProblems(error)
  if (problems.length) return formatMessages(problems).join('\n')
  if (error instanceof ApiError && error.stale.length) return `${error.message}\n${renderStaleObjects(error.stale)}`
  const { code, message, address, port, url, path, syscall } = error as SystemError
  if (code === 'FOLDER_IN_USE')
    return `${message} ${url ? 'Stop that server' : 'Wait until it ends'}, or pass another folder.`
  if (code === 'FOLDER_NOT_CREATED') return `${message} Check the path and its permissions, or pass another folder.`
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Stop the process that listens on it, or choose another with --port.`
  if (code === 'EACCES' && port) return `Listening on port ${port} is not permitted. Choose one above 1023 with --port.`
  if (path !== undefined && syscall !== undefined && code !== undefined && FILE_ERRORS[code] !== undefined)
    return `${path}: ${FILE_ERRORS[code]} (${code}). Check the path and its permissions, or pass another one.`
  if (code === 'ECONNREFUSED')
    return `The database at ${address}:${port} does not respond. Start it, or name another with --database.`
  if (code === 'ENOTFOUND')
    return `The host name of the database cannot be resolved. Check --database (REGENT_DATABASE).`
  if (code === '28P01' || code === '28000')
    return `The database refuses the login (${message}). Check user and password in --database.`
  if (code === '3D000') return `${message}. Create it, or name another with --database.`
  return getErrorMessage(error)
}
