// Mails that administrators have sent to people: with a link that lets them do something, once.
import type { Representation } from '../../kinds/json.ts'
import { findUser } from '../../service/admin-api/users/users.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { writers } from '../../service/kinds/index.ts'
import { type ActionToken, createActionToken } from '../../service/messages/action-tokens.ts'
import { findSmtpSettings } from '../../service/messages/mail-server.ts'
import { enqueueMessages } from '../../service/messages/outbox.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { readOidcRealm } from '../oidc-realm.ts'
import { isRegisteredRedirectUri } from '../redirect-uris.ts'

/** To whom a link goes, and what it leads back to. */
export interface ActionEmail {
  /** Id of the person. */
  readonly user: string
  /** The server's own address, as people see it. */
  readonly base: string
  /** The client that the person goes on to; absent: the account console. */
  readonly client?: string | undefined
  readonly redirectUri?: string | undefined
  /** How long the link works, in seconds; absent: as the realm says. */
  readonly lifespan?: number | undefined
}

/** Keycloak: the client of those who name none. */
const ACCOUNT = 'account'

/** The mails that carry links of these types, and what is said when one cannot be sent. */
const mails = {
  'execute-actions': { template: 'executeActions', refused: 'Failed to send execute actions email' },
  'verify-email': { template: 'emailVerification', refused: 'Failed to send verify email' },
} as const

/** Sends a person a link, `execute-actions` with what they are asked to do. Throws not_found, forbidden, invalid. */
export async function sendActionEmail(
  context: WriteContext,
  errand: ActionEmail,
  typ: keyof typeof mails,
  actions?: readonly unknown[],
): Promise<void> {
  const { id, representation: user } = await findUser(context, errand.user)
  requirePermissions(context, 'manage-users')
  if (!user.email) throw failure('invalid', 'User email missing')
  if (user.enabled !== true) throw failure('invalid', 'User is disabled')
  const goal = await goalOf(context, errand)
  const rqac = actions && (await knownActions(context, actions))
  const { template, refused } = mails[typ]
  const { settings } = await readOidcRealm(context)
  if (!findSmtpSettings(context.vault, settings)) throw failure('invalid', `${refused}: the realm has no mail server`)
  const lifespan = errand.lifespan ?? Number(settings.actionTokenGeneratedByAdminLifespan)
  if (lifespan <= 0) throw failure('invalid', `${refused}: the link would be over at once`)
  const eml = String(user.email)
  const token = createActionToken(context, lifespan, { typ, sub: id, eml, ...goal, ...(rqac && { rqac }) })
  const [locale] = ((user.attributes as Representation | undefined)?.locale ?? []) as string[]
  await enqueueMessages(context, {
    kind: 'mail',
    to: eml,
    template,
    locale,
    ...(rqac && { actions: rqac }),
    link: { base: errand.base, token },
    until: token.exp,
  })
}

/** What a link says of where the person goes on to. Throws what is wrong with it. */
async function goalOf(context: Context, { client, redirectUri }: ActionEmail): Promise<Pick<ActionToken, 'azp' | 'reduri'>> {
  if (redirectUri && !client) throw failure('invalid', 'Client id missing')
  const azp = client || ACCOUNT
  const [found] = await writers.client.list(context, { keys: [[azp]] })
  if (!found) throw failure('invalid', "Client doesn't exist")
  const { enabled, redirectUris, rootUrl } = found.representation
  if (enabled !== true) throw failure('invalid', 'Client is not enabled')
  if (!redirectUri) return { azp }
  const registered = { redirectUris: (redirectUris ?? []) as string[], ...(rootUrl && { rootUrl: String(rootUrl) }) }
  if (!isRegisteredRedirectUri(redirectUri, registered)) throw failure('invalid', 'Invalid redirect uri.')
  return { azp, reduri: redirectUri }
}

/** The aliases, where the realm has each of these required actions. */
async function knownActions(context: Context, actions: readonly unknown[]): Promise<string[]> {
  const found = await writers.requiredAction.list(context, { keys: actions.map((alias) => [String(alias)]) })
  const known = new Set<unknown>(found.map(({ key }) => key[0]))
  if (!actions.every((alias) => known.has(alias))) throw failure('invalid', 'Provided invalid required actions')
  return actions as string[]
}
