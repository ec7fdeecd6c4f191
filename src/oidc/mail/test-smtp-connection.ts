// The test of a mail server: a mail to whoever asks for it, at once.
import { randomUUID } from 'node:crypto'
import { isSecret } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { MASK } from '../../kinds/mask.ts'
import { failure } from '../../service/context/errors.ts'
import { type Caller, type Service, SYSTEM } from '../../service/context/service.ts'
import { findUserById } from '../../service/login/find-user.ts'
import { type SmtpSettings, findSmtpSettings, sendOverSmtp } from '../../service/messages/mail-server.ts'
import { toReplacement } from '../../service/objects/put-body.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { checkMailServer } from '../../service/realms/realm-checks.ts'
import { selectLanguage, createTranslator } from '../pages/localize.ts'
import { readOidcRealm } from '../oidc-realm.ts'
import { renderEmail } from './render-email.ts'

const FAILED = 'Failed to send email'

/** Sends the caller a mail by the server of these settings. Throws invalid with what keeps it from being taken. */
export async function testSmtpConnection(
  service: Service,
  caller: Caller,
  realm: string,
  settings: Representation,
): Promise<void> {
  const { server, letter } = await service.read(caller, realm, async (context) => {
    requirePermissions(context, 'manage-realm')
    const { settings: kept } = await readOidcRealm(context)
    const language = selectLanguage(kept, [])
    const text = await createTranslator(context, kept, language)
    return {
      server: withKeptSecrets(settings, findSmtpSettings(context.vault, kept)),
      letter: renderEmail({ template: 'emailTest' }, { language, text, realm }),
    }
  })
  if (!Object.keys(server).length) throw failure('invalid', `${FAILED}: no mail server is stated`)
  checkMailServer({ smtpServer: server })
  const { user } = caller
  const person = user && (await service.read(SYSTEM, user.realm, (context) => findUserById(context, user.id)))
  if (!person?.email) throw failure('invalid', `${FAILED}: the caller has no mail address`)
  await sendOverSmtp(service.outbound, server, { to: person.email, id: randomUUID(), ...letter }).catch((error: Error) => {
    throw failure('invalid', `${FAILED}: ${error.message}`, { cause: error })
  })
}

/**
 * The stated settings as texts. Keycloak: a secret that is masked is the realm's own, so that settings can be tested as they are shown;
 * but only where saving them would retain it: otherwise the secret could be sent to any server.
 */
function withKeptSecrets(stated: Representation, kept: SmtpSettings = {}): SmtpSettings {
  const server = Object.entries(stated).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]))
  const given: SmtpSettings = Object.fromEntries(server)
  const set = toReplacement({ kind: 'realm', representation: { smtpServer: kept } }, { smtpServer: given })
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]): [string, string][] => {
      if (value !== MASK || !isSecret(kinds.realm, `smtpServer.${name}`)) return [[name, value]]
      return kept[name] === undefined || Object.hasOwn(set, `smtpServer.${name}`) ? [] : [[name, kept[name]]]
    }),
  )
}
