// The components that hold the keys of a realm. Generated keys are stored in the component's config, encrypted, as
// Keycloak stores them, so that an export with secrets contains the keys.
import { formatComponentPath } from '../../kinds/component.ts'
import { kinds } from '../../kinds/index.ts'
import { readTextListMap } from '../../kinds/json.ts'
import { findFallbackKeyProvider, KEY_PROVIDER } from '../../kinds/key-providers.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { openSecrets } from '../context/secrets.ts'
import { writers } from '../kinds/index.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import type { KeyComponent } from '../realms/realm-keys.ts'

/** Config that was generated for a component, such as a key and its certificate. */
export interface GeneratedConfig {
  readonly component: KeyComponent
  readonly config: Readonly<Record<string, string[]>>
}

/** Lists the components that hold keys of the realm, with secrets in plain text. One statement. */
export async function listKeyComponents(context: Context): Promise<KeyComponent[]> {
  return (await listLiveComponents(context)).map((live) => toKeyComponent(context, live))
}

/**
 * Stores generated config. Skips components that have changed since they were read: another process has generated a key,
 * or other settings ask for another key.
 */
export async function storeGeneratedConfig(
  context: WriteContext,
  generated: readonly GeneratedConfig[],
): Promise<void> {
  const byId = new Map(generated.map((entry) => [entry.component.id, entry]))
  const updates = (await listLiveComponents(context)).flatMap((live) => {
    const { component, config = {} } = byId.get(live.id) ?? {}
    if (component?.version !== live.version) return []
    return [{ live, set: Object.fromEntries(Object.entries(config).map(([name, value]) => [`config.${name}`, value])) }]
  })
  await writers.component.update(context, updates)
}

/**
 * Creates a component for an algorithm that no active key of the realm supports, unless it exists already.
 * Keycloak: its name is `fallback-<algorithm>`.
 */
export async function addFallbackKey(context: WriteContext, algorithm: string): Promise<void> {
  const path = formatComponentPath('', { providerType: KEY_PROVIDER, name: `fallback-${algorithm}` })
  if ((await writers.component.list(context, { keys: [[path]] })).length) return
  await writers.component.create(context, [{ representation: { path, ...findFallbackKeyProvider(algorithm)! } }])
}

async function listLiveComponents(context: Context): Promise<LiveObject[]> {
  const components = await writers.component.list(context, { search: `${KEY_PROVIDER}/` })
  return components.filter(({ key }) => key[0]!.startsWith(`${KEY_PROVIDER}/`) && key[0]!.split('/').length === 2)
}

function toKeyComponent({ vault }: Context, { id, version, representation }: LiveObject): KeyComponent {
  const { providerId, config } = openSecrets(vault, kinds.component, representation)
  return { id, version, providerId: String(providerId), config: readTextListMap(config) }
}
