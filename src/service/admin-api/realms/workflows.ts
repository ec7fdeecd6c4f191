// The REST operations on workflows.
import { type Json, type Representation, readObject, readObjects } from '../../../kinds/json.ts'
import { deriveUuid } from '../../../lib/derive-uuid.ts'
import { selectExecutionStates } from '../../../store/workflows/executions.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import type { Vault } from '../../context/vault.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { toReplacement } from '../../objects/put-body.ts'
import { getVisibility, requirePermissions } from '../../permissions/require-permissions.ts'
import { parsePage } from '../common/list-query.ts'
import { createPlainResource } from '../common/plain-resource.ts'
import type { AdminResource, ObjectAddress } from '../common/resource.ts'

/** Keycloak: only administrators of the whole realm may view and manage workflows. */
const ALL = 'administer-realm'

/** Keycloak: the most elements of a list, unless the query requests more. */
const DEFAULT_PAGE_SIZE = 10

const resource = createPlainResource({
  kind: 'workflow',
  view: ALL,
  manage: ALL,
  getObject: getWorkflow,
  toWire: toWorkflowRepresentation,
})

/** The REST operations on workflows. Keycloak: WorkflowsResource, WorkflowResource. */
export const workflows: AdminResource = {
  ...resource,
  async list(context, _address, query) {
    requirePermissions(context, ALL)
    const text = query.search ? String(query.search) : undefined
    const matches = await writers.workflow.list(context, {
      ...(text !== undefined && (query.exact === true ? { keys: [[text]] } : { search: text })),
      ...parsePage(query, DEFAULT_PAGE_SIZE),
      visible: getVisibility(context, ALL),
    })
    return withStates(
      context,
      matches.map((live) => toWorkflowRepresentation(context.vault, live)),
    )
  },
  async get(context, address) {
    requirePermissions(context, ALL)
    const representation = toWorkflowRepresentation(context.vault, await getWorkflow(context, address))
    return (await withStates(context, [representation]))[0]!
  },
  async create(context, address, body) {
    requirePermissions(context, ALL)
    if (body.id != null && (await writers.workflow.list(context, { ids: [String(body.id)] })).length)
      throw failure('invalid', 'Duplicate resource error', { field: 'id' })
    return resource.create(context, address, body)
  },
  async replace(context, address, body) {
    requirePermissions(context, ALL)
    const live = await getWorkflow(context, address)
    // Keycloak: the body must declare the name, even if it stays.
    const set = { name: null, ...toReplacement(live, body) }
    await writers.workflow.update(context, [{ live, set }])
  },
}

/** Returns the representation of a workflow without the ids of itself and its steps. */
export function omitIds({ id: _, steps, ...fields }: Representation): Representation {
  return { ...fields, steps: readObjects(steps).map(({ id: __, ...step }) => step) }
}

/** Returns workflows with the reasons why steps failed. One statement. */
async function withStates(context: Context, workflows: readonly Representation[]): Promise<Representation[]> {
  const { tx, realm } = context
  const ids = workflows.map(({ id }) => String(id))
  const states = ids.length ? await selectExecutionStates(tx, realm.number, ids) : []
  return workflows.map((workflow) => {
    const errors = states.flatMap((state) => (state.workflow === workflow.id ? (state.error ?? []) : []))
    return errors.length ? { ...workflow, state: { errors } } : workflow
  })
}

/** Returns the workflow with an id. Throws invalid if there is none. One statement. */
export async function getWorkflow(context: Context, { id }: ObjectAddress): Promise<LiveObject> {
  const [workflow] = await writers.workflow.list(context, { ids: [id] })
  if (!workflow) throw failure('invalid', `Not a valid workflow resource: ${id}`, { form: 'error' })
  return workflow
}

/** Returns the representation of a workflow, with the ids of its steps. */
export function toWorkflowRepresentation(vault: Vault, live: LiveObject): Representation {
  const { steps, ...fields } = toWireRepresentation(vault, live)
  return {
    ...omitEmpty(fields),
    steps: readObjects(steps).map(({ with: settings, ...step }, at) => ({
      ...step,
      ...omitEmpty({ with: omitEmpty(readObject(settings)) }),
      id: getStepId(live.id, at),
    })),
  }
}

/** Returns the fields whose values are not empty objects or lists. Keycloak: it does not store them. */
function omitEmpty(fields: Representation): Representation {
  const isEmpty = (value: Json) => typeof value === 'object' && value !== null && !Object.keys(value).length
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)))
}

/** Returns the id of a step, which follows from its position: a step that changes keeps its id. */
export const getStepId = (workflow: string, at: number): string => deriveUuid(`${workflow} ${at}`)
