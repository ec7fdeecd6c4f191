// The realm of a request.
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'

/** Returns the realm of the context, with its settings. Throws not_found if it has just been deleted. */
export async function getCurrentRealm(context: Context): Promise<LiveObject> {
  const [realm] = await writers.realm.list(context, {})
  if (!realm) throw failure('not_found', 'Realm not found.')
  return realm
}
