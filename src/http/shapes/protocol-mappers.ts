// The operations on the protocol mappers of a client or of a client scope.
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { createProtocolMapperResource } from '../../service/admin-api/clients/protocol-mappers.ts'
import { listBody } from '../body.ts'
import { reading, writing } from '../handlers.ts'
import { bodyBehind, operationId, param, paramsOf, type Untagged } from '../operation.ts'
import { badRequest, done, many, refusals } from '../responses.ts'
import { collection } from './collection.ts'

const kind = kinds.protocolMapper

/** The operations on protocol mappers under `path`, which ends in `/protocol-mappers`. */
export function protocolMappers(mappers: ReturnType<typeof createProtocolMapperResource>, path: string) {
  const owner = paramsOf(path).at(-1)!
  return {
    ...collection(mappers, { path: `${path}/models`, item: '{id}' }),
    createAll: {
      operationId: operationId('create', `${path}/add-models`),
      method: 'POST',
      path: `${path}/add-models`,
      summary: 'Create several protocol mappers at once',
      permission: mappers.manage,
      event: kind.events.type,
      body: listBody(kind),
      responses: { ...done, ...refusals, ...badRequest },
      handle: writing(async (context, call) => {
        const id = param(call, owner)
        const bodies = await bodyBehind(call, async () => mappers.checkAccess?.(context, { owner: id }))
        await mappers.createAll(context, id, bodies as Representation[])
      }),
    },
    listOfProtocol: {
      operationId: operationId('list', `${path}/protocol/{protocol}`),
      method: 'GET',
      path: `${path}/protocol/{protocol}`,
      summary: 'List the protocol mappers of a protocol',
      permission: mappers.view,
      responses: { ...many(kind), ...refusals },
      handle: reading(async (context, call) => {
        const all = await mappers.list(context, { owner: param(call, owner) }, {})
        return all.filter(({ protocol }) => protocol === param(call, 'protocol'))
      }),
    },
  } satisfies Record<string, Untagged>
}
