// The operations of a resource under one path: list, create, get, replace and remove.
import type * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { AdminResource } from '../../service/admin-api/common/resource.ts'
import type { Context } from '../../service/context/context.ts'
import { objectBody } from '../body.ts'
import { createHandler, readHandler, writeHandler } from '../handlers.ts'
import {
  type Call,
  getParameter,
  listParameters,
  type Operation,
  operationId,
  readBodyAfter,
  type UntaggedOperation,
} from '../operation.ts'
import {
  badRequest,
  createdResponse,
  errorResponses,
  listResponse,
  noContentResponse,
  objectResponse,
} from '../responses.ts'
import { withArticle } from './subject.ts'

/** The operations of a resource. */
export interface Collection {
  readonly list: UntaggedOperation
  readonly create: UntaggedOperation
  readonly get: UntaggedOperation
  readonly replace: UntaggedOperation
  readonly remove: UntaggedOperation
}

/** The paths of a collection, and properties of its operations that its resource does not imply. */
export interface CollectionOptions {
  readonly path: string
  /** The path parameter of one object, such as `{id}`. */
  readonly item: string
  /** Query parameters of the list. */
  readonly query?: z.ZodObject
  /** The admin event. Absent: that of the kind. */
  readonly event?: NonNullable<Operation['event']>
  readonly yaml?: true
  /** Additional responses of all operations, which override the default ones. */
  readonly responses?: Operation['responses']
}

/** Returns the operations of a resource under a path. */
export function collection(resource: AdminResource, facts: CollectionOptions): Collection {
  const kind = kinds[resource.kind]
  const { path, item, query, event = kind.events.type, yaml, responses } = facts
  const { list, item: toItem, bodyOf } = createCallReaders(resource, facts)
  const ofList = { path, ...(yaml && { yaml }) }
  const ofOne = { ...ofList, path: `${path}/${item}` }
  const changing = { permission: resource.manage, event }
  const body = objectBody(kind)
  return {
    list: {
      ...ofList,
      operationId: operationId('list', path),
      method: 'GET',
      summary: `List ${kind.title}s`,
      permission: resource.search ?? resource.view,
      ...(query && { query }),
      responses: { ...listResponse(kind), ...errorResponses, ...responses },
      handle: readHandler((context, call) => resource.list(context, list(call), call.query)),
    },
    create: {
      ...ofList,
      ...changing,
      operationId: operationId('create', path),
      method: 'POST',
      summary: `Create ${withArticle(kind.title)}`,
      body,
      responses: { ...createdResponse, ...errorResponses, ...badRequest, ...responses },
      handle: createHandler(async (context, call) => resource.create(context, list(call), await bodyOf(context, call))),
    },
    get: {
      ...ofOne,
      operationId: operationId('get', ofOne.path),
      method: 'GET',
      summary: `Get ${withArticle(kind.title)}`,
      permission: resource.view,
      responses: { ...objectResponse(kind), ...errorResponses, ...responses },
      handle: readHandler((context, call) => resource.get(context, toItem(call))),
    },
    replace: {
      ...ofOne,
      ...changing,
      operationId: operationId('update', ofOne.path),
      method: 'PUT',
      summary: `Update ${withArticle(kind.title)}`,
      body,
      responses: { ...noContentResponse, ...errorResponses, ...badRequest, ...responses },
      handle: writeHandler(async (context, call) =>
        resource.replace(context, toItem(call), await bodyOf(context, call)),
      ),
    },
    remove: {
      ...ofOne,
      ...changing,
      operationId: operationId('delete', ofOne.path),
      method: 'DELETE',
      summary: `Delete ${withArticle(kind.title)}`,
      responses: { ...noContentResponse, ...errorResponses, ...responses },
      handle: writeHandler((context, call) => resource.delete(context, toItem(call))),
    },
  }
}

/** Returns functions that read the path of the list, the path of one object, and the body of a call. */
function createCallReaders(resource: AdminResource, { path, item }: CollectionOptions) {
  const [owner] = listParameters(path).slice(1).reverse()
  const [name] = listParameters(item) as [string]
  const list = (call: Call) => (owner === undefined ? {} : { owner: getParameter(call, owner) })
  return {
    list,
    item: (call: Call) => ({ ...list(call), id: getParameter(call, name) }),
    bodyOf: async (context: Context, call: Call) => {
      const place = { ...list(call), id: call.params[name] }
      return (await readBodyAfter(call, async () => resource.checkAccess?.(context, place))) as Representation
    },
  }
}
