// Finds the RealmSources to wake after a push. Any replica may receive the webhook; it wakes the one that follows the source.
import { readObject, readText } from '../../kinds/json.ts'
import { API_VERSION } from '../../kinds/resource-kinds.ts'
import { isSameRepository } from '../../reconcile/read/git-address.ts'
import { createSecretLookup } from '../cluster/cluster-cache.ts'
import type { ClusterClient } from '../cluster/cluster-client.ts'
import type { Resource } from '../cluster/resource.ts'
import { realmSourceNames } from '../cluster/resource-names.ts'
import { type WatchScope, watchKind, watchSecrets } from '../cluster/watch-scope.ts'
import { getGitSourceName } from './git-source.ts'

/** Finds RealmSources for webhooks. */
export interface WebhookSources {
  /** Finds the webhook secret of a source by name. */
  findSecret(name: string): Promise<string | undefined>
  /** Lists the names of the sources that follow one of the repositories. */
  listByRepository(urls: readonly string[]): Promise<string[]>
}

/** Options of `watchWebhookSources`. */
export interface WebhookSourcesOptions {
  readonly scope: WatchScope
  /** Whether the server reads resources of the namespace. */
  readonly isWatchedNamespace: (namespace: string) => boolean
  readonly onError: (error: unknown) => void
  /** Ends the watches. */
  readonly signal: AbortSignal
}

const getSourceName = ({ metadata }: Resource) => getGitSourceName(metadata.namespace!, metadata.name)

/** Watches RealmSources and Secrets from the first webhook on, since most servers receive none. */
export function watchWebhookSources(
  cluster: ClusterClient,
  { scope, isWatchedNamespace, onError, signal }: WebhookSourcesOptions,
): WebhookSources {
  const options = { scope, handler: { onChange: () => {}, onError }, signal }
  const startWatches = () => ({
    sources: watchKind(cluster, { group: `/apis/${API_VERSION}`, plural: realmSourceNames.plural }, options),
    secrets: watchSecrets(cluster, options),
  })
  let watches: ReturnType<typeof startWatches> | undefined
  const read = async () => {
    watches ??= startWatches()
    const { sources, secrets } = watches
    await Promise.all([sources.synced, secrets.synced])
    const included = sources.list().filter(({ metadata }) => isWatchedNamespace(metadata.namespace!))
    return { sources: included, findText: createSecretLookup(secrets) }
  }
  return {
    async findSecret(name) {
      const { sources, findText } = await read()
      const source = sources.find((candidate) => getSourceName(candidate) === name)
      const reference = readObject(readObject(source?.spec?.webhook).secretKeyRef)
      const [secret, key] = [readText(reference.name), readText(reference.key)]
      if (!source || secret === undefined || key === undefined) return undefined
      return findText({ namespace: source.metadata.namespace!, name: secret, key })?.trim() || undefined
    },
    async listByRepository(urls) {
      const { sources } = await read()
      const isFollowed = ({ spec }: Resource) => urls.some((url) => isSameRepository(url, String(spec?.url)))
      return sources.filter(isFollowed).map(getSourceName)
    },
  }
}
