// What REST does with workflows.
import { createHash } from 'node:crypto'
import type { Representation } from '../../../kinds/json.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import type { Vault } from '../../context/vault.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { toReplacement } from '../../objects/put-body.ts'
import { requirePermissions, getVisibility } from '../../permissions/require-permissions.ts'
import { parsePage } from '../common/list-query.ts'
import { createPlainResource } from '../common/plain-resource.ts'
import type { ObjectAddress, AdminResource } from '../common/resource.ts'

/** Keycloak: who may do less than all in a realm has nothing to do with workflows. */
const ALL = 'administer-realm'

/** Keycloak: what a list holds at most, unless it is asked for more. */
const PAGE = 10

/** Keycloak: WorkflowsResource, WorkflowResource. */
export const workflows: AdminResource = {
  ...createPlainResource({ kind: 'workflow', view: ALL, manage: ALL, getObject: find, toWire: show }),
  async list(context, _place, query) {
    requirePermissions(context, ALL)
    const text = query.search ? String(query.search) : undefined
    const found = await writers.workflow.list(context, {
      ...(text !== undefined && (query.exact === true ? { keys: [[text]] } : { search: text })),
      ...parsePage(query, PAGE),
      visible: getVisibility(context, ALL),
    })
    return found.map((live) => show(context.vault, live))
  },
  async replace(context, place, body) {
    requirePermissions(context, ALL)
    const live = await find(context, place)
    // Keycloak: the name of a workflow must be stated, also where it stays.
    const set = { name: null, ...toReplacement(live, body) }
    await writers.workflow.update(context, [{ live, set }])
  },
}

/** A workflow as it shows to who wants no ids. */
export function withoutIds({ id: _, steps, ...shown }: Representation): Representation {
  return { ...shown, steps: ((steps ?? []) as Representation[]).map(({ id: __, ...step }) => step) }
}

async function find(context: Context, { id }: ObjectAddress): Promise<LiveObject> {
  const [found] = await writers.workflow.list(context, { ids: [id] })
  if (!found) throw failure('invalid', `Not a valid workflow resource: ${id}`, { form: 'error' })
  return found
}

function show(vault: Vault, live: LiveObject): Representation {
  const { steps, ...shown } = toWireRepresentation(vault, live)
  const withIds = ((steps ?? []) as Representation[]).map((step, at) => ({ ...step, id: idOf(live.id, at) }))
  return { ...shown, steps: withIds }
}

/** A step is known by its place in the workflow: one that changes there keeps its id. */
function idOf(workflow: string, at: number): string {
  const hex = createHash('sha256').update(`${workflow} ${at}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
