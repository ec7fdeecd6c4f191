// The operations on the protocol mappers of a client or of a client scope.
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { createProtocolMapperResource } from '../../service/admin-api/clients/protocol-mappers.ts'
import { listBody } from '../body.ts'
import { readHandler, writeHandler } from '../handlers.ts'
import { getParameter, listParameters, operationId, readBodyAfter, type UntaggedOperation } from '../operation.ts'
import { badRequest, errorResponses, listResponse, noContentResponse } from '../responses.ts'
import { collection } from './collection.ts'
import { subjectOf } from './subject.ts'

const kind = kinds.protocolMapper

/** The operations on protocol mappers under `path`, which ends in `/protocol-mappers`. */
export function protocolMappers(mappers: ReturnType<typeof createProtocolMapperResource>, path: string) {
  const owner = listParameters(path).at(-1)!
  return {
    ...collection(mappers, { path: `${path}/models`, item: '{id}' }),
    createAll: {
      operationId: operationId('create', `${path}/add-models`),
      method: 'POST',
      path: `${path}/add-models`,
      summary: `Create several protocol mappers of ${subjectOf(path)} at once`,
      permission: mappers.manage,
      event: kind.events.type,
      body: listBody(kind),
      responses: { ...noContentResponse, ...errorResponses, ...badRequest },
      handle: writeHandler(async (context, call) => {
        const id = getParameter(call, owner)
        const bodies = await readBodyAfter(call, async () => mappers.checkAccess?.(context, { owner: id }))
        await mappers.createAll(context, id, bodies as Representation[])
      }),
    },
    listOfProtocol: {
      operationId: operationId('list', `${path}/protocol/{protocol}`),
      method: 'GET',
      path: `${path}/protocol/{protocol}`,
      summary: `List the protocol mappers of ${subjectOf(path)} for a protocol`,
      permission: mappers.view,
      responses: { ...listResponse(kind), ...errorResponses },
      handle: readHandler(async (context, call) => {
        const all = await mappers.list(context, { owner: getParameter(call, owner) }, {})
        return all.filter(({ protocol }) => protocol === getParameter(call, 'protocol'))
      }),
    },
  } satisfies Record<string, UntaggedOperation>
}
