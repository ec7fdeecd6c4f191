// The operation that returns installation documents of clients.
import * as z from 'zod'
import { getFrontendUrl } from '../../oidc/oidc-realm.ts'
import { listRealmKeys } from '../../oidc/realm-keys.ts'
import { clients } from '../../service/admin-api/clients/clients.ts'
import { findInstallation } from '../../service/admin-api/clients/installation/installation-formats.ts'
import { loadInstalledClient } from '../../service/admin-api/clients/installation/installed-clients.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { RealmKey } from '../../service/realms/realm-keys.ts'
import { type Answer, type Call, getParameter, type Operation, tagged } from '../operation.ts'
import { errorResponses } from '../responses.ts'

/** The operation on installation documents. */
export const clientInstallationOperations: Operation[] = tagged('Clients', [
  {
    operationId: 'getClientInstallation',
    method: 'GET',
    path: '/admin/realms/{realm}/clients/{client-uuid}/installation/providers/{providerId}',
    summary: 'Get an installation document of a client: settings for the software that logs its users in',
    description: 'The server information lists the formats. Secrets are masked for callers who may only view clients.',
    permission: 'view-clients',
    ignoresAccept: true,
    responses: { 200: { description: 'The document.', schema: z.string(), plain: true }, ...errorResponses },
    handle: install,
  },
])

async function install(call: Call): Promise<Answer> {
  const id = getParameter(call, 'client-uuid')
  const realmName = getParameter(call, 'realm')
  const realm = await call.service.read(call.caller, realmName, async (context) => {
    await clients.get(context, { id })
    return context.realm
  })
  const installation = findInstallation(getParameter(call, 'providerId'))
  if (!installation) throw failure('not_found', 'Unknown Provider')
  // Missing keys are generated outside of the transaction, since that is slow.
  const keys = installation.protocol === 'saml' ? await listRealmKeys(call.service, realm) : []
  const surroundings = { base: getFrontendUrl(call.base, realm), certificates: keys.flatMap(toCertificate) }
  const load = (context: Context) => loadInstalledClient(context, id, surroundings)
  const body = await installation.render(await call.service.read(call.caller, realmName, load))
  // Keycloak: every text is of this type.
  return { status: 200, body, type: typeof body === 'string' ? 'text/plain' : installation.mediaType }
}

function toCertificate({ kid, status, use, algorithm, certificate }: RealmKey) {
  if (status === 'DISABLED' || use !== 'sig' || algorithm !== 'RS256' || !certificate) return []
  return [{ kid, certificate: certificate.raw.toString('base64') }]
}
