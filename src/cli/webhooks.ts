// The webhook of the server: wakes the sources of a repository when a commit is pushed.
import { readFile } from 'node:fs/promises'
import type { ServerSettings } from '../config.ts'
import type { Webhook } from '../http/regent/webhook.ts'
import type { WebhookSources } from '../operator/git/git-source-webhooks.ts'
import type { Service } from '../service/context/service.ts'
import { wakeSources } from '../service/sources/source-status.ts'
import { renderError } from './render-error.ts'
import type { WatchedSource } from './watched-source.ts'

/**
 * Creates the webhook of the settings, if they enable one. A signed request wakes the sources of its repository.
 * `inCluster` returns the sources declared in Kubernetes, each of which may have its own secret.
 */
export async function createWebhook(
  service: Service,
  { sourceWebhookSecretFile, operator }: ServerSettings,
  { sources, inCluster }: { sources: readonly WatchedSource[]; inCluster: () => WebhookSources | undefined },
): Promise<Webhook | undefined> {
  if (!sourceWebhookSecretFile && !operator) return undefined
  const wake = (names: readonly string[]) =>
    wakeSources(service, names).catch((error: unknown) => console.error(renderError(error)))
  const pushed = async (urls: readonly string[]) => {
    const clusterSources = (await inCluster()?.listByRepository(urls)) ?? []
    const matching = sources.filter((source) => source.pushed(urls))
    const all = matching.length || clusterSources.length ? matching : sources.filter((source) => source.pushed([]))
    await wake([...all.filter(({ isWatched: watching }) => !watching).map(({ name }) => name), ...clusterSources])
  }
  return {
    all: sourceWebhookSecretFile
      ? { secret: await readSecret(sourceWebhookSecretFile), pushed: (urls) => void pushed(urls) }
      : undefined,
    async source(name) {
      const secret = await inCluster()?.findSecret(name)
      return secret === undefined ? undefined : { secret, pushed: () => void wake([name]) }
    },
  }
}

/** Returns the secret in a file. @throws Error if the file is empty. */
export async function readSecret(file: string): Promise<string> {
  const secret = (await readFile(file, 'utf8')).trim()
  if (!secret) throw new Error(`${file} is empty. Create a secret with "openssl rand -hex 32".`)
  return secret
}
