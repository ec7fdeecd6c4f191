// Reads and writes live objects through the writers of the service, as REST does.
import type { FlatFields } from '../../src/kinds/compare.ts'
import type { Representation } from '../../src/kinds/json.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import type { Context, WriteContext } from '../../src/service/context/context.ts'
import type { Caller, Service } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import type { LiveObject } from '../../src/service/objects/live-objects.ts'

/** Returns the live objects of a kind, by the last part of their natural key. */
export async function listLiveObjects(
  service: Service,
  caller: Caller,
  realm: string,
  kind: KindName,
): Promise<Map<string, LiveObject>> {
  const objects = await service.read(caller, realm, (context) => writers[kind].list(context, {}))
  return new Map(objects.map((object) => [object.key.at(-1)!, object]))
}

/** Returns the live object with the key. Throws if there is none. */
export async function getLiveObject(
  service: Service,
  caller: Caller,
  realm: string,
  kind: KindName,
  ...key: string[]
): Promise<LiveObject> {
  return service.read(caller, realm, (context) => getLiveInContext(context, kind, key))
}

async function getLiveInContext(context: Context, kind: KindName, key: Key): Promise<LiveObject> {
  const [live] = await writers[kind].list(context, kind === 'realm' ? {} : { keys: [key] })
  if (!live) throw new Error(`there is no ${kind} ${key.join('/')}`)
  return live
}

/** Sets fields of an object. */
export async function updateObject(
  service: Service,
  caller: Caller,
  realm: string,
  kind: KindName,
  key: Key,
  set: FlatFields,
): Promise<void> {
  const work = async (context: WriteContext) => {
    const live = await getLiveInContext(context, kind, key)
    await writers[kind].update(context, [{ live, set }])
  }
  await service.write(caller, { realm, withMaster: kind === 'realm' }, work)
}

/** Creates an object. */
export async function createObject(
  service: Service,
  caller: Caller,
  realm: string,
  kind: KindName,
  representation: Representation,
): Promise<void> {
  await service.write(caller, realm, (context) => writers[kind].create(context, [{ representation }]))
}

/** Deletes an object. */
export async function deleteObject(
  service: Service,
  caller: Caller,
  realm: string,
  kind: KindName,
  ...key: string[]
): Promise<void> {
  const live = await getLiveObject(service, caller, realm, kind, ...key)
  await service.write(caller, realm, (context) => writers[kind].delete(context, [live]))
}
