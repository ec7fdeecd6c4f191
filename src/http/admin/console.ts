// What the administration console asks of the server before it asks for anything of a realm.
import * as z from 'zod'
import { selectLanguage } from '../../oidc/pages/localize.ts'
import { whoAmI } from '../../service/admin-api/realms/who-am-i.ts'
import { type Operation, param, tagged } from '../operation.ts'
import { refusals } from '../responses.ts'

const who = z.object({
  userId: z.string().describe('Id of the account.'),
  realm: z.string().describe('Realm of the account.'),
  displayName: z.string().describe('First and last name, or the name of the account.'),
  locale: z.string().describe('Language of the account, as far as the realm has it.'),
  temporary: z.boolean().describe('Whether the account is only there until there is another one.'),
  createRealm: z.boolean().describe('Whether it may create realms.'),
  realm_access: z.record(z.string(), z.array(z.string())).describe('By realm, the roles that administer it.'),
})

/** Who is logged in. */
export const consoleOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'whoAmI',
    method: 'GET',
    path: '/admin/{realm}/console/whoami',
    summary: 'Get the caller of the admin console and their admin roles (whoami)',
    permission: 'any',
    query: z.object({
      currentRealm: z.string().optional().describe('The realm that somebody of master would administer.'),
    }),
    responses: { 200: { description: 'The caller.', schema: who }, ...refusals },
    handle: async (call) => {
      const about = call.query.currentRealm as string | undefined
      const { who, attributes, settings } = await whoAmI(call.service, call.caller, param(call, 'realm'), about)
      return { status: 200, body: { ...who, locale: selectLanguage(settings, [attributes.locale?.[0]]) } }
    },
  },
])
