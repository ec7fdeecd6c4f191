// Emails with a link that administrators send to users. The link carries out an action, once.
import { getManageableUser } from '../../service/admin-api/users/users.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { writers } from '../../service/kinds/index.ts'
import { type ActionToken, createActionToken } from '../../service/messages/action-tokens.ts'
import { enqueueMessages } from '../../service/messages/outbox.ts'
import { findSmtpSettings } from '../../service/messages/smtp.ts'
import { readOidcRealm } from '../oidc-realm.ts'
import { acceptsResponseParameters, isRegisteredRedirectUri, resolveRootUrl } from '../redirect-uris.ts'
import { viewClient, viewUser } from '../views.ts'

/** An email with a link. */
export interface ActionEmail {
  /** The id of the user. */
  readonly user: string
  /** The address of the server, as users see it. */
  readonly base: string
  /** The client id of the application to which the user continues; absent: the account console. */
  readonly client?: string | undefined
  readonly redirectUri?: string | undefined
  /** The lifespan of the link in seconds; absent: that of the realm. */
  readonly lifespan?: number | undefined
  /** The aliases of the required actions that the user is to execute. */
  readonly actions?: readonly unknown[]
}

/** Keycloak: the default client. */
const ACCOUNT = 'account'

/** The template of each type of action token. Keycloak: the error message. */
const emails = {
  'execute-actions': { template: 'executeActions', failed: 'Failed to send execute actions email' },
  'verify-email': { template: 'emailVerification', failed: 'Failed to send verify email' },
} as const

/** Sends an email with a link to a user. Throws not_found, forbidden and invalid. */
export async function sendActionEmail(
  context: WriteContext,
  typ: keyof typeof emails,
  email: ActionEmail,
): Promise<void> {
  const live = await getManageableUser(context, email.user)
  const user = viewUser(live)
  if (!user.email) throw failure('invalid', 'User email missing')
  if (user.enabled !== true) throw failure('invalid', 'User is disabled')
  const target = await findTarget(context, email)
  const actions = email.actions && (await checkActions(context, email.actions))
  const { template, failed } = emails[typ]
  const { settings } = await readOidcRealm(context)
  if (!findSmtpSettings(context.vault, settings))
    throw failure('invalid', `${failed}: the realm has no mail server. Configure smtpServer.`)
  const lifespan = email.lifespan ?? settings.actionTokenGeneratedByAdminLifespan
  if (lifespan <= 0) throw failure('invalid', `${failed}: the lifespan must be greater than 0`)
  const claims = { typ, sub: live.id, eml: user.email, ...target, ...(actions && { rqac: actions }) }
  const token = createActionToken(context, lifespan, claims)
  await enqueueMessages(context, {
    kind: 'mail',
    to: user.email,
    template,
    locale: user.attributes?.locale?.[0],
    ...(actions && { actions }),
    link: { base: email.base, token },
    until: token.exp,
  })
}

/** Returns the claims for the application to which the user continues. Throws invalid. */
async function findTarget(
  context: Context,
  { client, redirectUri, base }: ActionEmail,
): Promise<Pick<ActionToken, 'azp' | 'reduri'>> {
  if (redirectUri && !client) throw failure('invalid', 'Client id missing')
  const azp = client || ACCOUNT
  const [live] = await writers.client.list(context, { keys: [[azp]] })
  if (!live) throw failure('invalid', "Client doesn't exist")
  const { enabled, redirectUris = [], rootUrl, attributes } = viewClient(live)
  if (enabled !== true) throw failure('invalid', 'Client is not enabled')
  if (!redirectUri) return { azp }
  const registered = {
    redirectUris,
    rootUrl: resolveRootUrl(rootUrl, base),
    acceptsResponseParameters: acceptsResponseParameters({ attributes }),
  }
  if (!isRegisteredRedirectUri(redirectUri, registered)) throw failure('invalid', 'Invalid redirect uri.')
  return { azp, reduri: redirectUri }
}

/** Returns the aliases. Throws invalid unless the realm has all of these required actions. */
async function checkActions(context: Context, actions: readonly unknown[]): Promise<string[]> {
  const aliases = actions.map(String)
  const live = await writers.requiredAction.list(context, { keys: aliases.map((alias) => [alias]) })
  const existing = new Set<unknown>(live.map(({ key }) => key[0]))
  if (!actions.every((alias) => existing.has(alias))) throw failure('invalid', 'Provided invalid required actions')
  return aliases
}
