// The writers of components, a tree that is stored as paths. They check the config of known providers.
import { type FlatFields, flatten, unflatten } from '../../kinds/compare.ts'
import { getParentComponentPath, parseComponentPath } from '../../kinds/component.ts'
import { toCanonicalConfig } from '../../kinds/component-config.ts'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readTextListMap } from '../../kinds/json.ts'
import { findKeyProvider } from '../../kinds/key-providers.ts'
import { invalidObject } from '../context/errors.ts'
import { openSecrets } from '../context/secrets.ts'
import { createTreeWriters } from '../objects/tree-writers.ts'
import type { Writers } from '../objects/writers.ts'
import { findComponentProblem } from './component-checks.ts'
import { firstValue, getSizeOrCurve, parseRealmKey } from './realm-keys.ts'

const kind = kinds.component
const writers = createTreeWriters(kind.name, getParentComponentPath)

/** The writers of components. */
export const components: Writers = {
  ...writers,
  async create(context, objects) {
    const canonical = objects.map((object) => ({ ...object, representation: toCanonical(object.representation) }))
    for (const { representation } of canonical) checkComponent(representation)
    return writers.create(context, canonical)
  },
  async update(context, updates) {
    return writers.update(
      context,
      updates.map((update) => {
        const current = flatten(kind, openSecrets(context.vault, kind, update.live.representation))
        const next = toCanonical(unflatten(kind, { ...current, ...update.set }))
        checkComponent(next)
        const canonical = flatten(kind, next)
        const set = Object.entries(update.set).map(([path, value]) => [path, canonical[path] ?? value])
        return { ...update, set: { ...Object.fromEntries(set), ...clearOutdatedKey(next, update.set) } }
      }),
    )
  },
}

function toCanonical({ config = {}, ...component }: Representation): Representation {
  return { ...component, config: toCanonicalConfig(parseComponentPath(String(component.path)).providerType, config) }
}

/**
 * Returns the generated config to clear if a component's key has another size or curve than its config asks for. A new key
 * is generated when one is needed.
 */
function clearOutdatedKey({ providerId, config: configFields }: Representation, set: FlatFields): FlatFields {
  const provider = findKeyProvider(String(providerId))
  const config = readTextListMap(configFields)
  const sizeOrCurve = provider?.keyParameter && firstValue(config, provider.keyParameter.setting)
  if (!provider || sizeOrCurve === undefined || `config.${provider.secret}` in set) return {}
  const key = parseRealmKey({ id: '', version: 0, providerId: String(providerId), config })
  return !key || getSizeOrCurve(key) === sizeOrCurve
    ? {}
    : Object.fromEntries(provider.generatedSettings.map((name) => [`config.${name}`, null]))
}

function checkComponent(component: Representation): void {
  const problem = findComponentProblem(component)
  if (problem) throw invalidObject(problem)
}
