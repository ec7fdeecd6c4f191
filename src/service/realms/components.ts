// Components: a tree that is kept as paths, whose settings are checked where their provider is known.
import { assemble, type FlatFields, flatten } from '../../kinds/compare.ts'
import { componentName, parentComponentPath } from '../../kinds/component.ts'
import { canonicalSettings } from '../../kinds/component-settings.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { keyProvider } from '../../kinds/key-providers.ts'
import { failure } from '../context/errors.ts'
import { revealed } from '../context/secrets.ts'
import { treeWriters } from '../objects/trees.ts'
import type { Writers } from '../objects/writers.ts'
import { componentProblem } from './component-checks.ts'
import { first, readKey, type Settings, shapeOf } from './key-reading.ts'

const kind = kinds.component
const writers = treeWriters(kind.name, parentComponentPath)

/** The writers of components. */
export const components: Writers = {
  ...writers,
  async create(context, objects) {
    const canonical = objects.map((one) => ({ ...one, representation: inOneForm(one.representation) }))
    for (const { representation } of canonical) check(representation)
    return writers.create(context, canonical)
  },
  async update(context, updates) {
    const whole = updates.map(({ live, set }) => {
      const now = flatten(kind, revealed(context.vault, kind, live.representation))
      const next = inOneForm(assemble(kind, { ...now, ...set }))
      check(next)
      const written = flatten(kind, next)
      const stated = Object.entries(set).map(([path, value]) => [path, written[path] ?? value])
      return { ...Object.fromEntries(stated), ...outgrown(next, set) }
    })
    return writers.update(
      context,
      updates.map((update, at) => ({ ...update, set: whole[at]! })),
    )
  },
}

function inOneForm({ config = {}, ...component }: Representation): Representation {
  return { ...component, config: canonicalSettings(componentName(String(component.path)).providerType, config) }
}

/** A key that the settings do not want any more goes, and another one is made where it is needed. */
function outgrown({ providerId, config = {} }: Representation, set: FlatFields): FlatFields {
  const provider = keyProvider(String(providerId))
  const settings = config as Settings
  const wanted = provider?.shape && first(settings, provider.shape.setting)
  if (!provider || wanted === undefined || `config.${provider.secret}` in set) return {}
  const key = readKey({ id: '', version: 0, providerId: String(providerId), settings })
  return !key || shapeOf(key) === wanted
    ? {}
    : Object.fromEntries(provider.made.map((name) => [`config.${name}`, null]))
}

function check(component: Representation): void {
  const problem = componentProblem(component)
  if (problem !== undefined) throw failure('invalid', problem)
}
