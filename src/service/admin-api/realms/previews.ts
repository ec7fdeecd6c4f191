// Preview realms: they have attributes with the realm that they show and the time of their deletion, and a task deletes them.
import { MASTER } from '../../../kinds/built-in/index.ts'
import { type Representation, readObject, readText } from '../../../kinds/json.ts'
import { hasPermission } from '../../context/admin-permissions.ts'
import type { WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { type Caller, type Service, SYSTEM } from '../../context/service.ts'
import { listEveryRealm } from '../../objects/live-objects.ts'
import { scheduleTasks, type TaskHandlers } from '../../tasks/scheduled-tasks.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { createRealm, deleteRealm } from './realms.ts'

/** The attributes of a preview: the name of the realm that it shows, and the time of its deletion. */
const [PREVIEW_OF, PREVIEW_UNTIL] = ['regent.preview.of', 'regent.preview.until']
const TASK = 'delete-preview'

/** A preview realm. */
export interface Preview {
  /** Name of the preview. */
  readonly realm: string
  /** Name of the realm that it shows. */
  readonly of: string
  /** The time of its deletion, as an ISO 8601 date and time. */
  readonly until: string
}

/** A preview to create. */
interface PreviewToCreate {
  readonly of: string
  readonly body: Representation
  readonly seconds: number
  readonly createContent: (context: WriteContext) => Promise<unknown>
}

/** Creates a preview, instead of an earlier one of the same name. Throws forbidden; conflict if another realm has the name. */
export async function createPreviewRealm(
  service: Service,
  caller: Caller,
  { of, body, seconds, createContent }: PreviewToCreate,
): Promise<Preview> {
  const name = String(body.realm)
  const until = new Date(service.clock().getTime() + seconds * 1000).toISOString()
  const [earlier] = await service.findRealms([name])
  if (earlier) await deletePreview(service, caller, name)
  const attributes = { ...readObject(body.attributes), [PREVIEW_OF]: of, [PREVIEW_UNTIL]: until }
  await createRealm(service, caller, {
    body: { ...body, attributes },
    ids: new Map(),
    createContent: async (context) => {
      await createContent(context)
      await scheduleTasks(context, [{ type: TASK, subject: context.realm.id, intervalSeconds: seconds }])
    },
  })
  return { realm: name, of, until }
}

/** Lists the previews that the caller may see, by name. Four statements. */
export function listPreviews(service: Service, caller: Caller): Promise<Preview[]> {
  return service.read(caller, MASTER, async (context) =>
    (await listEveryRealm(context)).flatMap(({ key: [realm], representation }) => {
      const { [PREVIEW_OF]: of, [PREVIEW_UNTIL]: until } = readObject(representation.attributes)
      if (typeof of !== 'string' || !hasPermission(context.permissions, realm!, 'see-realm')) return []
      return [{ realm: realm!, of, until: readText(until) ?? '' }]
    }),
  )
}

/** Deletes a preview. Throws forbidden, not_found; conflict for a realm that is no preview. */
export function deletePreview(service: Service, caller: Caller, name: string): Promise<void> {
  return service.write(caller, { realm: name, withMaster: true }, async (context) => {
    const { representation } = await getCurrentRealm(context)
    if (readObject(representation.attributes)[PREVIEW_OF] === undefined)
      throw failure('conflict', `The realm ${name} is no preview.`)
    await deleteRealm(context)
  })
}

/** The handler of the task that deletes previews. */
export const previewTasks: TaskHandlers = { [TASK]: ({ service, realm }) => deletePreview(service, SYSTEM, realm) }
