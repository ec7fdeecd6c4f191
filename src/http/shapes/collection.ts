// The operations of a resource under one path: list, create, get, replace and remove.

import type * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { getPluralTitle } from '../../kinds/kind.ts'
import type { AdminResource } from '../../service/admin-api/common/resource.ts'
import type { Context } from '../../service/context/context.ts'
import { type BodyForm, objectBody } from '../body.ts'
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
import { subjectOf, withArticle } from './subject.ts'

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
  /** The form of bodies. Absent: the representation of the kind. */
  readonly body?: BodyForm
  /** The admin event. Absent: that of the kind. */
  readonly event?: NonNullable<Operation['event']>
  readonly yaml?: true
  /** Additional responses of all operations, which override the default ones. */
  readonly responses?: Operation['responses']
}

/** Returns the operations of a resource under a path. */
export function collection(resource: AdminResource, options: CollectionOptions): Collection {
  const { list, get } = readOperations(resource, options)
  const { create, replace, remove } = writeOperations(resource, options)
  return { list, create, get, replace, remove }
}

function readOperations(resource: AdminResource, options: CollectionOptions): Pick<Collection, 'list' | 'get'> {
  const kind = kinds[resource.kind]
  const { path, item, query, yaml, responses } = options
  const { toList, toItem } = createAddressReaders(options)
  const itemPath = `${path}/${item}`
  return {
    list: {
      ...(yaml && { yaml }),
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: `List ${getPluralTitle(kind)}${ofOwner(path)}`,
      permission: resource.search ?? resource.view,
      ...(query && { query }),
      responses: { ...listResponse(kind), ...errorResponses, ...responses },
      handle: readHandler((context, call) => resource.list(context, toList(call), call.query)),
    },
    get: {
      ...(yaml && { yaml }),
      operationId: operationId('get', itemPath),
      method: 'GET',
      path: itemPath,
      summary: `Get ${withArticle(kind.title)}${ofOwner(path)}`,
      permission: resource.view,
      responses: { ...objectResponse(kind), ...errorResponses, ...responses },
      handle: readHandler((context, call) => resource.get(context, toItem(call))),
    },
  }
}

function writeOperations(
  resource: AdminResource,
  options: CollectionOptions,
): Pick<Collection, 'create' | 'replace' | 'remove'> {
  const kind = kinds[resource.kind]
  const { path, item, event = kind.events.type, yaml, responses } = options
  const { toList, toItem } = createAddressReaders(options)
  const readBody = createBodyReader(resource, options)
  const shared = { ...(yaml && { yaml }), permission: resource.manage, event }
  const itemPath = `${path}/${item}`
  const { body = objectBody(kind) } = options
  return {
    create: {
      ...shared,
      operationId: operationId('create', path),
      method: 'POST',
      path,
      summary: `Create ${withArticle(kind.title)}${ofOwner(path)}`,
      body,
      responses: { ...createdResponse, ...errorResponses, ...badRequest, ...responses },
      handle: createHandler(async (context, call) =>
        resource.create(context, toList(call), await readBody(context, call)),
      ),
    },
    replace: {
      ...shared,
      operationId: operationId('update', itemPath),
      method: 'PUT',
      path: itemPath,
      summary: `Update ${withArticle(kind.title)}${ofOwner(path)}`,
      body,
      responses: { ...noContentResponse, ...errorResponses, ...badRequest, ...responses },
      handle: writeHandler(async (context, call) =>
        resource.replace(context, toItem(call), await readBody(context, call)),
      ),
    },
    remove: {
      ...shared,
      operationId: operationId('delete', itemPath),
      method: 'DELETE',
      path: itemPath,
      summary: `Delete ${withArticle(kind.title)}${ofOwner(path)}`,
      responses: { ...noContentResponse, ...errorResponses, ...responses },
      handle: writeHandler((context, call) => resource.delete(context, toItem(call))),
    },
  }
}

/** Returns ` of a client` for a collection within a client, and an empty text for one of the realm. */
function ofOwner(path: string): string {
  return listParameters(path).length > 1 ? ` of ${subjectOf(path)}` : ''
}

/** Returns functions that read the path of the list and of one object from a call. */
function createAddressReaders({ path, item }: CollectionOptions) {
  const [owner] = listParameters(path).slice(1).reverse()
  const [name] = listParameters(item) as [string]
  const toList = (call: Call) => (owner === undefined ? {} : { owner: getParameter(call, owner) })
  return { toList, toItem: (call: Call) => ({ ...toList(call), id: getParameter(call, name) }) }
}

/** Returns the function that reads the body of a call. Errors about objects of the path take precedence. */
function createBodyReader(resource: AdminResource, options: CollectionOptions) {
  const { toList } = createAddressReaders(options)
  const [name] = listParameters(options.item) as [string]
  return async (context: Context, call: Call) => {
    const address = { ...toList(call), id: call.params[name] }
    return (await readBodyAfter(call, async () => resource.checkAccess?.(context, address))) as Representation
  }
}
