// The components that hold keys of a realm, and what they make for themselves: kept in their settings, sealed, as Keycloak
// keeps it, so that an export with secrets takes the keys along.
import { componentPath } from '../../kinds/component.ts'
import { kinds } from '../../kinds/index.ts'
import { fallbackFor, KEY_PROVIDER } from '../../kinds/key-providers.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { revealed } from '../context/secrets.ts'
import { writers } from '../kinds/index.ts'
import type { LiveObject } from '../objects/live.ts'
import type { KeyComponent, Settings } from '../realms/key-reading.ts'

/** What a component has made for itself. */
export interface MadeUp {
  readonly component: KeyComponent
  readonly settings: Readonly<Record<string, string[]>>
}

/** The components that hold keys of the realm, settings in the clear. One statement. */
export async function keyComponents(context: Context): Promise<KeyComponent[]> {
  return (await listKeyComponents(context)).map((live) => opened(context, live))
}

/**
 * Keeps what components have made for themselves. Of one that has changed meanwhile nothing is kept: another process was
 * faster, or another key is wanted by now.
 */
export async function keepMade(context: WriteContext, made: readonly MadeUp[]): Promise<void> {
  const byId = new Map(made.map((one) => [one.component.id, one]))
  const updates = (await listKeyComponents(context)).flatMap((live) => {
    const { component, settings = {} } = byId.get(live.id) ?? {}
    if (component?.version !== live.version) return []
    return [
      { live, set: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`config.${name}`, value])) },
    ]
  })
  await writers.component.update(context, updates)
}

/** Makes a component for an algorithm that no active key of the realm is for, unless it is there. Keycloak: called so. */
export async function addFallback(context: WriteContext, algorithm: string): Promise<void> {
  const path = componentPath('', { providerType: KEY_PROVIDER, name: `fallback-${algorithm}` })
  if ((await writers.component.list(context, { keys: [[path]] })).length) return
  await writers.component.create(context, [{ representation: { path, ...fallbackFor(algorithm)! } }])
}

async function listKeyComponents(context: Context): Promise<LiveObject[]> {
  const found = await writers.component.list(context, { search: `${KEY_PROVIDER}/` })
  return found.filter(({ key }) => key[0]!.startsWith(`${KEY_PROVIDER}/`) && key[0]!.split('/').length === 2)
}

function opened({ vault }: Context, { id, version, representation }: LiveObject): KeyComponent {
  const { providerId, config = {} } = revealed(vault, kinds.component, representation)
  return { id, version, providerId: String(providerId), settings: config as Settings }
}
