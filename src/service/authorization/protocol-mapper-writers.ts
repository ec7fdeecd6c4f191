// The writers of protocol mappers. A change of a mapper counts as a change of the client that it belongs to.
import type { WriteContext } from '../context/context.ts'
import { recordEditor, requireClientEditor } from '../objects/client-editors.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { createPlainWriters } from '../objects/plain-writers.ts'
import type { Writers } from '../objects/writers.ts'

const writers = createPlainWriters('protocolMapper')

/** The writers of protocol mappers. */
export const protocolMappers: Writers = {
  ...writers,
  async create(context, objects) {
    const created = await writers.create(context, objects)
    await recordClientEdits(context, created)
    return created
  },
  async update(context, updates) {
    const updated = await writers.update(context, updates)
    await recordClientEdits(
      context,
      updated.filter(({ version }) => version === context.version),
    )
    return updated
  },
  async delete(context, objects) {
    await writers.delete(context, objects)
    await recordClientEdits(context, objects)
  },
}

async function recordClientEdits(context: WriteContext, mappers: readonly LiveObject[]): Promise<void> {
  const ofClients = mappers.filter(({ parent }) => parent?.kind === 'client')
  requireClientEditor(
    context,
    ofClients.map(({ key }) => key.slice(1, -1)),
  )
  await recordEditor(context, [...new Set(ofClients.map(({ parent }) => parent!.id))])
}
