// The realm that a call is about.
import type { Context } from '../../context/context.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live.ts'

/** The realm of the context with its settings. */
export async function ownRealm(context: Context): Promise<LiveObject> {
  return (await writers.realm.list(context, {}))[0]!
}
