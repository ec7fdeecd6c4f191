import { CLIENT_SCOPE_NOT_FOUND } from '../../service/admin-api/clients/client-scopes.ts'
import { createProtocolMapperResource } from '../../service/admin-api/clients/protocol-mappers.ts'
import { CLIENT_NOT_FOUND } from '../../service/admin-api/common/client-lookup.ts'
import { type Operation, tagged } from '../operation.ts'
import { protocolMappers } from '../shapes/protocol-mappers.ts'

const ofScopes = createProtocolMapperResource('clientScope', CLIENT_SCOPE_NOT_FOUND)
const ofClients = createProtocolMapperResource('client', CLIENT_NOT_FOUND)

/** The operations on protocol mappers of clients and client scopes. */
export const protocolMapperOperations: Operation[] = tagged('Protocol Mappers', [
  ...Object.values(protocolMappers(ofScopes, '/admin/realms/{realm}/client-scopes/{client-scope-id}/protocol-mappers')),
  ...Object.values(
    protocolMappers(ofScopes, '/admin/realms/{realm}/client-templates/{client-scope-id}/protocol-mappers'),
  ),
  ...Object.values(protocolMappers(ofClients, '/admin/realms/{realm}/clients/{client-uuid}/protocol-mappers')),
])
