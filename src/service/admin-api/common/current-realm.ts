// The realm of a request.
import type { Context } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'

/** Returns the realm of the context, with its settings. */
export async function getCurrentRealm(context: Context): Promise<LiveObject> {
  return (await writers.realm.list(context, {}))[0]!
}
