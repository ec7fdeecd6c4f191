// The operation that the admin console calls first: who the caller is.
import * as z from 'zod'
import { viewOf } from '../../kinds/kind.ts'
import { realm as realmKind } from '../../kinds/realm.ts'
import { selectLanguage } from '../../oidc/pages/localize.ts'
import { getWhoAmI } from '../../service/admin-api/realms/who-am-i.ts'
import { getParameter, type Operation, tagged } from '../operation.ts'
import { errorResponses } from '../responses.ts'

const whoAmIRepresentation = z.object({
  userId: z.string().describe('Id of the caller.'),
  realm: z.string().describe('Realm of the caller.'),
  displayName: z.string().describe('First and last name of the caller, or the username.'),
  locale: z.string().describe('Language of the caller, if the realm supports it.'),
  temporary: z.boolean().describe('Whether the caller is a temporary administrator.'),
  createRealm: z.boolean().describe('Whether the caller can create realms.'),
  realm_access: z.record(z.string(), z.array(z.string())).describe('Admin roles of the caller, by realm.'),
})

/** The operation of the admin console. */
export const consoleOperations: Operation[] = tagged('Realms Admin', [
  {
    operationId: 'whoAmI',
    method: 'GET',
    path: '/admin/{realm}/console/whoami',
    summary: 'Get the caller of the admin console and their admin roles (whoami)',
    permission: 'any',
    query: z.object({
      currentRealm: z.string().optional().describe('Realm that an administrator of the master realm selected.'),
    }),
    responses: { 200: { description: 'The caller.', schema: whoAmIRepresentation }, ...errorResponses },
    handle: async (call) => {
      const currentRealm = call.query.currentRealm as string | undefined
      const { whoAmI, attributes, settings } = await getWhoAmI(call.service, call.caller, {
        realm: getParameter(call, 'realm'),
        currentRealm,
      })
      return {
        status: 200,
        body: { ...whoAmI, locale: selectLanguage(viewOf(realmKind, settings), [attributes.locale?.[0]]) },
      }
    },
  },
])
