// Consents: the client scopes that a client requests of a user, and those that the user granted before.
import { clientScope } from '../kinds/client-scope.ts'
import { type Representation, readFlag, readObjects, readTexts } from '../kinds/json.ts'
import { viewOf } from '../kinds/kind.ts'
import type { Context } from '../service/context/context.ts'
import { type LiveObject, listObjects } from '../service/objects/live-objects.ts'
import { getConsentsByUser } from '../service/users/consents.ts'
import { OAuthError } from './oauth-error.ts'
import { listScopeNames, parseScope } from './tokens/scopes.ts'
import { viewClient } from './views.ts'

/** An entry of the consent page: a client scope, or the client itself. */
interface ConsentItem {
  readonly name: string
  readonly text: string
  readonly order: number
}

/** A request of a client for the consent of a user. */
export interface ConsentRequest {
  /** The requested entries, in the order of the page. */
  readonly items: readonly ConsentItem[]
  /** Names of the entries that the user granted before. */
  readonly granted: readonly string[]
  /** The user's consent to this client, if there is one. */
  readonly consent: Representation | undefined
  /** The user's consents to other clients. */
  readonly otherConsents: readonly Representation[]
}

/** Returns what a client requests of a user with a scope parameter, and what the user granted before. Two statements. */
export async function findConsentRequest(
  context: Context,
  {
    client,
    scope,
    user,
  }: { readonly client: LiveObject; readonly scope: string; readonly user: { readonly id: string } },
): Promise<ConsentRequest> {
  const requested = listScopeNames(parseScope(scope))
  const { defaultClientScopes = [], optionalClientScopes = [] } = viewClient(client)
  const names = [...defaultClientScopes, ...optionalClientScopes.filter((name) => requested.includes(name))]
  const scopes = await listObjects(context, 'clientScope', { keys: names.map((name) => [name]) })
  const consents = readObjects((await getConsentsByUser(context, [user])).get(user.id))
  const consent = consents.find(({ clientId }) => clientId === client.key[0])
  return {
    items: [...listItems(client, false), ...scopes.flatMap((scope) => listItems(scope, true))].sort(
      (a, b) => a.order - b.order,
    ),
    consent,
    otherConsents: consents.filter((other) => other !== consent),
    // A consent with any client scope includes the client itself.
    granted: consent ? [client.key[0]!, ...readTexts(consent.grantedClientScopes)] : [],
  }
}

/** Whether a client that requires consent must ask the user for it. */
export function isConsentNeeded({ items, granted, consent }: ConsentRequest): boolean {
  return consent === undefined || items.some(({ name }) => !granted.includes(name))
}

/** Throws invalid_scope unless the user has consented to the scope values. No statement if the client requires no consent, else two. */
export async function requireConsent(
  context: Context,
  request: { readonly client: LiveObject; readonly scopes: readonly string[]; readonly user: { readonly id: string } },
): Promise<void> {
  if (viewClient(request.client).consentRequired !== true) return
  const consentRequest = await findConsentRequest(context, { ...request, scope: request.scopes.join(' ') })
  if (!isConsentNeeded(consentRequest)) return
  const reason = 'Client no longer has requested consent from user'
  throw new OAuthError(400, 'invalid_scope', { description: reason, event: { error: 'not_allowed', reason } })
}

/** Returns the entry of a client or client scope, if it is displayed; `isDisplayed` counts where the attribute is absent. */
function listItems({ key, representation }: LiveObject, isDisplayed: boolean): ConsentItem[] {
  const { name, attributes = {} } = viewOf(clientScope, representation)
  if (!readFlag(attributes['display.on.consent.screen'], isDisplayed)) return []
  const text = attributes['consent.screen.text'] || (name ?? key[0]!)
  return [{ name: key[0]!, text, order: Number(attributes['gui.order'] || Number.MAX_SAFE_INTEGER) }]
}
