import { moment } from '../reconcile/words.ts'
import type { NamedSecret } from '../service/generated-secrets.ts'
import { request, type StoreFlags } from './connect.ts'
import { type Format, printTable } from './print.ts'

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
export async function get(realm: string, source: string, name: string, flags: StoreFlags): Promise<void> {
  console.log(((await request(flags, 'GET', at(realm, source, name))) as { value: string }).value)
}

/** `regent secret rotate`: another secret, from the next apply of the source on. */
export async function rotate(realm: string, source: string, name: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'POST', at(realm, source, name, '/rotate'))
  console.log(`${name} is another secret from the next apply of ${source} on.`)
}

function at(realm: string, source: string, name: string, what = ''): string {
  const path = `/regent/v1/secrets/${encodeURIComponent(realm)}/${encodeURIComponent(name)}${what}`
  return `${path}?${new URLSearchParams({ source })}`
}
