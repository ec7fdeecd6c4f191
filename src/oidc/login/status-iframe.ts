// Keycloak: a page in a hidden frame, of which applications ask by message whether the session of their token goes on.

import { type Service, SYSTEM } from '../../service/context/service.ts'
import { listObjects } from '../../service/objects/live.ts'
import { openRealm } from '../realm.ts'
import { isAllowed, webOrigins } from '../web-origins.ts'
import { SESSION } from './session/cookies.ts'

/**
 * Answers `<client> <session>` with unchanged, changed or error. It compares a hash of the session with the cookie that
 * marks who is logged in, and tells nothing to origins that are none of the client's.
 */
export const statusPage = `<!doctype html>
<meta charset="utf-8">
<title>Session</title>
<script>
const known = new Map()
const isKnown = (client, origin) => {
  const key = client + ' ' + origin
  if (!known.has(key)) {
    const query = new URLSearchParams({ client_id: client, origin })
    known.set(key, fetch(location.pathname + '/init?' + query).then(({ ok }) => ok, () => false))
  }
  return known.get(key)
}
const mark = () => document.cookie.split('; ').find((one) => one.startsWith('${SESSION}='))?.slice('${SESSION}='.length)
const markOf = async (session) => {
  const hash = await crypto.subtle.digest('SHA-384', new TextEncoder().encode(session))
  const text = btoa(String.fromCharCode(...new Uint8Array(hash)))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
const compare = async (client, session, origin) => {
  if (document.hasStorageAccess && !(await document.hasStorageAccess())) return 'error'
  if (!(await isKnown(client, origin))) return 'error'
  const now = mark()
  if (!now || session === '') return !now && session === '' ? 'unchanged' : 'changed'
  return now === await markOf(session) ? 'unchanged' : 'changed'
}
addEventListener('message', async ({ data, origin, source }) => {
  const words = typeof data === 'string' ? data.split(' ') : []
  if (words.length === 2) source.postMessage(await compare(words[0], words[1], origin).catch(() => 'error'), origin)
})
</script>
`

/** Tells the application around it whether the browser lets a page in a frame of another site keep cookies. */
export const cookiePage = `<!doctype html>
<meta charset="utf-8">
<title>Cookies</title>
<script>
const test = 'KEYCLOAK_3P_COOKIE'
const say = (works) => parent.postMessage(works ? 'supported' : 'unsupported', '*')
const look = () => {
  const attributes = location.protocol === 'https:' ? '; SameSite=None; Secure' : ''
  document.cookie = test + '=1; Max-Age=60' + attributes
  const works = document.cookie.includes(test)
  document.cookie = test + '=; Max-Age=0' + attributes
  say(works)
}
const allowed = document.hasStorageAccess ? document.hasStorageAccess() : Promise.resolve(true)
allowed.then((has) => (has ? look() : say(false)))
</script>
`

/** Whether the origin that the query names is one of the client's. Throws OAuthError. */
export async function checkStatusClient(
  service: Service,
  base: string,
  name: string,
  query: URLSearchParams,
): Promise<boolean> {
  const { realm, client } = { realm: await openRealm(service, name), client: query.get('client_id') ?? '' }
  const [found] = await service.read(SYSTEM, realm, (context) => listObjects(context, 'client', { keys: [[client]] }))
  if (found?.representation.enabled !== true) return false
  return isAllowed(webOrigins(found.representation, base), base, query.get('origin') ?? '')
}
