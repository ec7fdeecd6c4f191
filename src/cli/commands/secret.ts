import { moment } from '../../reconcile/model/attribution.ts'
import type { NamedSecret } from '../../service/sources/generated-secrets.ts'
import { request, type StoreFlags } from '../connect.ts'
import { type Format, printTable } from '../print.ts'

/** A secret that documents name. */
interface SecretPlace {
  readonly realm: string
  readonly source: string
  readonly name: string
}

/** `regent secret list`: the secrets that were made in a realm. */
export async function list(realm: string, flags: StoreFlags & { output: Format }): Promise<void> {
  const found = (await request(flags, 'GET', `/regent/v1/secrets/${encodeURIComponent(realm)}`)) as NamedSecret[]
  printTable(flags.output, found, {
    head: ['Secret', 'Source', 'Made'],
    rows: found.map(({ name, source, madeAt }) => [name, source, moment(String(madeAt))]),
    none: `No document names a secret of ${realm} as $(generated:NAME).`,
    foot: `Print one with "regent secret get ${realm} <source> <name>".`,
  })
}

/** `regent secret get`: a secret, for a pipe. */
export async function get(secret: SecretPlace, flags: StoreFlags): Promise<void> {
  console.log(((await request(flags, 'GET', addressOf(secret))) as { value: string }).value)
}

/** `regent secret rotate`: another secret, from the next apply of the source on. */
export async function rotate(secret: SecretPlace, flags: StoreFlags): Promise<void> {
  await request(flags, 'POST', addressOf(secret, '/rotate'))
  console.log(`${secret.name} is another secret from the next apply of ${secret.source} on.`)
}

function addressOf({ realm, source, name }: SecretPlace, what = ''): string {
  const path = `/regent/v1/secrets/${encodeURIComponent(realm)}/${encodeURIComponent(name)}${what}`
  return `${path}?${new URLSearchParams({ source })}`
}
