// Pushes that are told to RealmSources. Whichever server hears of one, it wakes the one that follows the source.
import { API_VERSION } from '../../realm-file/resources/resource-kinds.ts'
import { isSameRepository } from '../../reconcile/read/git-address.ts'
import type { Cluster } from '../cluster.ts'
import { sourceNames } from '../names.ts'
import { SECRETS, textsOf } from '../picture.ts'
import type { Resource } from '../resource.ts'
import { ResourceWatch } from '../watch.ts'
import { gitSourceOf } from './stated.ts'

/** The RealmSources that there are, for whoever hears of pushes. */
export interface Webhooks {
  /** The secret of the source of that name; undefined where it has none. */
  secretOf(name: string): Promise<string | undefined>
  /** The names of those that follow one of the repositories. */
  following(urls: readonly string[]): Promise<string[]>
}

const nameOf = ({ metadata }: Resource) => gitSourceOf(metadata.namespace!, metadata.name)

/** They are watched from the first question on, until the signal comes: most servers are never asked. */
export function webhooks(
  cluster: Cluster,
  counts: (namespace: string) => boolean,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Webhooks {
  const watch = (path: string, fields = '') =>
    new ResourceWatch(cluster, { path, fields, told: { changed: () => {}, failed }, signal })
  const begin = () => ({
    sources: watch(`/apis/${API_VERSION}/${sourceNames.plural}`),
    secrets: watch(...SECRETS),
  })
  let watched: ReturnType<typeof begin> | undefined
  const look = async () => {
    watched ??= begin()
    const { sources, secrets } = watched
    await Promise.all([sources.seen, secrets.seen])
    const all = [...sources.resources.values()].filter(({ metadata }) => counts(metadata.namespace!))
    return { all, texts: textsOf(secrets) }
  }
  return {
    async secretOf(name) {
      const { all, texts } = await look()
      const found = all.find((one) => nameOf(one) === name)
      const { secretKeyRef } = (found?.spec?.webhook ?? {}) as { secretKeyRef?: { name: string; key: string } }
      return found && secretKeyRef
        ? texts(found.metadata.namespace!, secretKeyRef.name, secretKeyRef.key)?.trim() || undefined
        : undefined
    },
    async following(urls) {
      const { all } = await look()
      return all.filter(({ spec }) => urls.some((url) => isSameRepository(url, String(spec?.url)))).map(nameOf)
    },
  }
}
