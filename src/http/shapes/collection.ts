// List, make, read, replace and delete: the operations of a resource under one path.
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/kind.ts'
import type { Context } from '../../service/context.ts'
import type { Resource } from '../../service/resources/resource.ts'
import { objectBody } from '../body.ts'
import {
  bodyBehind,
  type Call,
  creating,
  operationId,
  param,
  paramsOf,
  reading,
  type Untagged,
  writing,
} from '../operation.ts'
import { badRequest, done, made, many, one, refusals } from '../responses.ts'

/** The operations of a resource: `path` of the list, and the parameter that names one object, as `{id}`. */
export function collection(resource: Resource, path: string, item: string): Untagged[] {
  const kind = kinds[resource.kind]
  const [owner] = paramsOf(path).slice(1).reverse()
  const place = (call: Call) => (owner === undefined ? {} : { owner: param(call, owner) })
  const [name] = paramsOf(item) as [string]
  const itemPlace = (call: Call) => ({ ...place(call), id: param(call, name) })
  const bodyOf = async (context: Context, call: Call) => {
    const at = { ...place(call), id: call.params[name] }
    return (await bodyBehind(call, async () => resource.reach?.(context, at))) as Representation
  }
  const common = { permission: resource.manage, event: kind.events.type }
  const body = objectBody(kind)
  return [
    {
      operationId: operationId('list', path),
      method: 'GET',
      path,
      summary: `List: ${kind.title}`,
      permission: resource.search ?? resource.view,
      responses: { ...many(kind), ...refusals },
      handle: reading((context, call) => resource.list(context, place(call), call.query)),
    },
    {
      ...common,
      operationId: operationId('create', path),
      method: 'POST',
      path,
      summary: `Create: ${kind.title}`,
      body,
      responses: { ...made, ...refusals, ...badRequest },
      handle: creating(async (context, call) => resource.create(context, place(call), await bodyOf(context, call))),
    },
    {
      operationId: operationId('get', `${path}/${item}`),
      method: 'GET',
      path: `${path}/${item}`,
      summary: `Get: ${kind.title}`,
      permission: resource.view,
      responses: { ...one(kind), ...refusals },
      handle: reading((context, call) => resource.get(context, itemPlace(call))),
    },
    {
      ...common,
      operationId: operationId('update', `${path}/${item}`),
      method: 'PUT',
      path: `${path}/${item}`,
      summary: `Update: ${kind.title}`,
      body,
      responses: { ...done, ...refusals, ...badRequest },
      handle: writing(async (context, call) => resource.replace(context, itemPlace(call), await bodyOf(context, call))),
    },
    {
      ...common,
      operationId: operationId('delete', `${path}/${item}`),
      method: 'DELETE',
      path: `${path}/${item}`,
      summary: `Delete: ${kind.title}`,
      responses: { ...done, ...refusals },
      handle: writing((context, call) => resource.delete(context, itemPlace(call))),
    },
  ]
}
