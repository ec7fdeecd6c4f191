// Protocol mappers: who edits one edits the client that it belongs to.

import type { WriteContext } from '../context/context.ts'
import { demandClientEditor, recordEditor } from '../objects/client-editors.ts'
import type { LiveObject } from '../objects/live.ts'
import { plain } from '../objects/objects.ts'
import type { Writers } from '../objects/writers.ts'

const writers = plain('protocolMapper')

/** The writers of protocol mappers. */
export const protocolMappers: Writers = {
  ...writers,
  async create(context, objects) {
    const created = await writers.create(context, objects)
    await edit(context, created)
    return created
  },
  async update(context, updates) {
    const updated = await writers.update(context, updates)
    await edit(
      context,
      updated.filter(({ version }) => version === context.version),
    )
    return updated
  },
  async delete(context, objects) {
    await writers.delete(context, objects)
    await edit(context, objects)
  },
}

async function edit(context: WriteContext, mappers: readonly LiveObject[]): Promise<void> {
  const ofClients = mappers.filter(({ parent }) => parent?.kind === 'client')
  demandClientEditor(
    context,
    ofClients.map(({ key }) => key.slice(1, -1)),
  )
  await recordEditor(context, [...new Set(ofClients.map(({ parent }) => parent!.id))])
}
