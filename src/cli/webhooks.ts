// Webhooks of the server: who is told of pushes to repositories, and the secrets of webhooks.
import { readFile } from 'node:fs/promises'
import type { Settings } from '../config.ts'
import type { Webhook } from '../http/regent/webhook.ts'
import type { Webhooks } from '../operator/git/webhooks.ts'
import type { Service } from '../service/context/service.ts'
import { wakeSources } from '../service/sources/source-states.ts'
import { report } from './report.ts'
import type { Watched } from './watched.ts'

/**
 * Who knows the secret says that something was pushed: the sources that it can be are read. `inCluster`: resources of
 * Kubernetes, each of which may have a secret of its own.
 */
export async function webhookOf(
  service: Service,
  { sourceWebhookSecretFile, operator }: Settings,
  { sources, inCluster }: { sources: readonly Watched[]; inCluster: () => Webhooks | undefined },
): Promise<Webhook | undefined> {
  if (!sourceWebhookSecretFile && !operator) return undefined
  const wake = (names: readonly string[]) =>
    wakeSources(service, names).catch((error: unknown) => console.error(report(error)))
  const pushed = async (urls: readonly string[]) => {
    const others = (await inCluster()?.following(urls)) ?? []
    const known = sources.filter((source) => source.pushed(urls))
    const all = known.length || others.length ? known : sources.filter((source) => source.pushed([]))
    await wake([...all.filter(({ watching }) => !watching).map(({ name }) => name), ...others])
  }
  return {
    all: sourceWebhookSecretFile
      ? { secret: await secretIn(sourceWebhookSecretFile), pushed: (urls) => void pushed(urls) }
      : undefined,
    async source(name) {
      const secret = await inCluster()?.secretOf(name)
      return secret === undefined ? undefined : { secret, pushed: () => void wake([name]) }
    },
  }
}

/** What the file holds. Throws where that is nothing. */
export async function secretIn(file: string): Promise<string> {
  const secret = (await readFile(file, 'utf8')).trim()
  if (!secret) throw new Error(`${file} is empty: make a secret with "openssl rand -hex 32"`)
  return secret
}
