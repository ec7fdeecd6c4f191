// The address of the page: the realm that the user logs in to, and the page below it.
import { signal } from '@preact/signals'

/** The base URL of the server, with a slash at its end. The script is at `/resources/console/` below it. */
export const root = new URL('../../', import.meta.url).href

const base = `${new URL(root).pathname}console/`

/** Returns the realm that the user logs in to: the first segment below `/console`. */
export function findRealm(): string {
  return decodeURIComponent(location.pathname.slice(base.length).split('/')[0] || 'master')
}

const home = `${base}${encodeURIComponent(findRealm())}/`

/** The address within the console: the segments of its path, and its query. */
export interface PageAddress {
  readonly segments: readonly string[]
  readonly query: URLSearchParams
}

function readAddress(): PageAddress {
  const path = location.pathname.slice(home.length)
  const query = new URLSearchParams(location.search)
  return { segments: path.split('/').filter(Boolean).map(decode), query }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The address of the shown page. */
export const address = signal(readAddress())

/** Returns the path of a page: segments, and a query without the values that are undefined or empty. */
export function toPath(
  segments: readonly string[],
  query: Readonly<Record<string, string | readonly string[] | undefined>> = {},
): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    for (const text of [value ?? []].flat()) if (text !== '') parameters.append(name, text)
  const text = parameters.toString()
  return `${home}${segments.map(encodeURIComponent).join('/')}${text && `?${text}`}`
}

/** Shows a page. */
export function navigate(path: string, { replaces = false }: { readonly replaces?: boolean } = {}): void {
  if (replaces) history.replaceState(null, '', path)
  else history.pushState(null, '', path)
  address.value = readAddress()
  if (!replaces) window.scrollTo(0, 0)
}

/** Follows the browser's buttons for back and forward, and reads the address again, which a log-in changes. */
export function followAddress(): void {
  address.value = readAddress()
  addEventListener('popstate', () => {
    address.value = readAddress()
  })
}
