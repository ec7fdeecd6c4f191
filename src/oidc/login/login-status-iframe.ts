// Keycloak: the login status iframe. Applications ask it by message whether the session of their token is still active.
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { listObjects } from '../../service/objects/live-objects.ts'
import { getEnabledRealm } from '../oidc-realm.ts'
import { viewClient } from '../views.ts'
import { isAllowedOrigin, listWebOrigins } from '../web-origins.ts'
import { SESSION } from './session/cookies.ts'

/**
 * The page of the iframe. It responds to the message `<client id> <session id>` with unchanged, changed or error: it
 * compares a hash of the session id with the session cookie. Origins that are not web origins of the client get an error.
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

/** The page that reports to the application that embeds it whether the browser allows third-party cookies. */
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

/** Whether the query has a web origin of its client. Throws OAuthError where the realm does not exist or is disabled. */
export async function isStatusOriginAllowed(
  service: Service,
  { base, realmName, query }: { readonly base: string; readonly realmName: string; readonly query: URLSearchParams },
): Promise<boolean> {
  const realm = await getEnabledRealm(service, realmName)
  const clientId = query.get('client_id') ?? ''
  const [client] = await service.read(SYSTEM, realm, (context) =>
    listObjects(context, 'client', { keys: [[clientId]] }),
  )
  if (!client || viewClient(client).enabled !== true) return false
  return isAllowedOrigin(listWebOrigins(client.representation, base), base, query.get('origin') ?? '')
}
