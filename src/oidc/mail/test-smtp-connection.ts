// The test of SMTP settings, which sends an email to the caller.
import { randomUUID } from 'node:crypto'
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { MASK } from '../../kinds/mask.ts'
import { failure } from '../../service/context/errors.ts'
import { type Caller, type Service, SYSTEM } from '../../service/context/service.ts'
import { findUserById } from '../../service/login/find-user.ts'
import { findSmtpSettings, type SmtpSettings, sendOverSmtp } from '../../service/messages/smtp.ts'
import { toReplacement } from '../../service/objects/put-body.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { checkMailServer } from '../../service/realms/realm-checks.ts'
import { readOidcRealm } from '../oidc-realm.ts'
import { createTranslator, selectLanguage } from '../pages/localize.ts'
import { renderEmail } from './render-email.ts'

const FAILED = 'Failed to send email'

/** Sends a test email to the caller over the SMTP server of the settings. Throws ServiceError `invalid` (HTTP 400) with the error of that server. */
export async function testSmtpConnection(
  service: Service,
  caller: Caller,
  { realm, settings }: { readonly realm: string; readonly settings: Representation },
): Promise<void> {
  const { server, content } = await service.read(caller, realm, async (context) => {
    requirePermissions(context, 'manage-realm')
    const { settings: realmSettings } = await readOidcRealm(context)
    const language = selectLanguage(realmSettings, [])
    const text = await createTranslator(context, realmSettings, language)
    return {
      server: toServer(settings, findSmtpSettings(context.vault, realmSettings)),
      content: renderEmail({ template: 'emailTest' }, { language, text, realm }),
    }
  })
  if (!Object.keys(server).length) throw failure('invalid', `${FAILED}: the request has no SMTP settings`)
  checkMailServer({ smtpServer: server })
  const { user } = caller
  const account = user && (await service.read(SYSTEM, user.realm, (context) => findUserById(context, user.id)))
  if (!account?.email) throw failure('invalid', `${FAILED}: your account has no email address`)
  const email = { to: account.email, id: randomUUID(), ...content }
  await sendOverSmtp(service, { realm, settings: server }, email).catch((error: Error) => {
    throw failure('invalid', `${FAILED}: ${error.message}`, { cause: error })
  })
}

/**
 * Returns the settings as texts. Keycloak: a masked secret is that of the realm, so that settings can be tested as they are
 * shown; but only where saving the settings would retain the secret, else it could be sent to any server.
 */
function toServer(settings: Representation, realmServer: SmtpSettings = {}): SmtpSettings {
  const entries = Object.entries(settings).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]))
  const server: SmtpSettings = Object.fromEntries(entries)
  const set = toReplacement({ kind: 'realm', representation: { smtpServer: realmServer } }, { smtpServer: server })
  return Object.fromEntries(
    Object.entries(server).flatMap(([name, value]): [string, string][] => {
      if (value !== MASK || !isSecret(kinds.realm, `smtpServer.${name}`)) return [[name, value]]
      const secret = realmServer[name]
      return secret === undefined || Object.hasOwn(set, `smtpServer.${name}`) ? [] : [[name, secret]]
    }),
  )
}
