// List, make, read, replace and delete: the operations of a resource under one path.
import type * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { AdminResource } from '../../service/admin-api/common/resource.ts'
import type { Context } from '../../service/context/context.ts'
import { objectBody } from '../body.ts'
import { creating, reading, writing } from '../handlers.ts'
import { bodyBehind, type Call, type Operation, operationId, param, paramsOf, type Untagged } from '../operation.ts'
import { badRequest, done, made, many, one, refusals } from '../responses.ts'
import { withArticle } from './subject.ts'

/** The operations of a resource. */
export interface Collection {
  readonly list: Untagged
  readonly create: Untagged
  readonly get: Untagged
  readonly replace: Untagged
  readonly remove: Untagged
}

/** The addresses of a collection, and facts of its operations that do not follow from its resource. */
export interface CollectionFacts {
  readonly path: string
  /** The parameter that names one object, as `{id}`. */
  readonly item: string
  /** What the list can be narrowed by. */
  readonly query?: z.ZodObject
  /** Absent: the type of event of the kind. */
  readonly event?: NonNullable<Operation['event']>
  readonly yaml?: true
  /** Responses of all operations, in the place of the usual ones. */
  readonly responses?: Operation['responses']
}

/** Returns the operations of a resource under a path. */
export function collection(resource: AdminResource, facts: CollectionFacts): Collection {
  const kind = kinds[resource.kind]
  const { path, item, query, event = kind.events.type, yaml, responses } = facts
  const { list, one: each, bodyOf } = callsOf(resource, facts)
  const shared = { ...(yaml && { yaml }) }
  const ofList = { ...shared, path }
  const ofOne = { ...shared, path: `${path}/${item}` }
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
      responses: { ...many(kind), ...refusals, ...responses },
      handle: reading((context, call) => resource.list(context, list(call), call.query)),
    },
    create: {
      ...ofList,
      ...changing,
      operationId: operationId('create', path),
      method: 'POST',
      summary: `Create ${withArticle(kind.title)}`,
      body,
      responses: { ...made, ...refusals, ...badRequest, ...responses },
      handle: creating(async (context, call) => resource.create(context, list(call), await bodyOf(context, call))),
    },
    get: {
      ...ofOne,
      operationId: operationId('get', ofOne.path),
      method: 'GET',
      summary: `Get ${withArticle(kind.title)}`,
      permission: resource.view,
      responses: { ...one(kind), ...refusals, ...responses },
      handle: reading((context, call) => resource.get(context, each(call))),
    },
    replace: {
      ...ofOne,
      ...changing,
      operationId: operationId('update', ofOne.path),
      method: 'PUT',
      summary: `Update ${withArticle(kind.title)}`,
      body,
      responses: { ...done, ...refusals, ...badRequest, ...responses },
      handle: writing(async (context, call) => resource.replace(context, each(call), await bodyOf(context, call))),
    },
    remove: {
      ...ofOne,
      ...changing,
      operationId: operationId('delete', ofOne.path),
      method: 'DELETE',
      summary: `Delete ${withArticle(kind.title)}`,
      responses: { ...done, ...refusals, ...responses },
      handle: writing((context, call) => resource.delete(context, each(call))),
    },
  }
}

/** Returns what a call names: the place of the list, the place of one object, and the body. */
function callsOf(resource: AdminResource, { path, item }: CollectionFacts) {
  const [owner] = paramsOf(path).slice(1).reverse()
  const [name] = paramsOf(item) as [string]
  const list = (call: Call) => (owner === undefined ? {} : { owner: param(call, owner) })
  return {
    list,
    one: (call: Call) => ({ ...list(call), id: param(call, name) }),
    bodyOf: async (context: Context, call: Call) => {
      const place = { ...list(call), id: call.params[name] }
      return (await bodyBehind(call, async () => resource.checkAccess?.(context, place))) as Representation
    },
  }
}
