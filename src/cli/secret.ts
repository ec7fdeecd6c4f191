import { moment } from '../reconcile/words.ts'
import type { NamedSecret } from '../service/generated-secrets.ts'
import { request, type StoreFlags } from './connect.ts'

/** `regent secret list`: the secrets that were made for a source. */
export async function list(source: string, flags: StoreFlags & { output: string }): Promise<void> {
  const found = (await request(flags, 'GET', at(source))) as NamedSecret[]
  if (flags.output === 'json') console.log(JSON.stringify(found, null, 2))
  else if (!found.length) console.log(`No document of ${source} names a secret as $(generated:NAME).`)
  else for (const { name, madeAt } of found) console.log(`${name}  made ${moment(String(madeAt))}`)
}

/** `regent secret get`: a secret, for a pipe. */
export async function get(source: string, name: string, flags: StoreFlags): Promise<void> {
  console.log(((await request(flags, 'GET', at(source, name))) as { value: string }).value)
}

/** `regent secret rotate`: another secret, from the next apply of the source on. */
export async function rotate(source: string, name: string, flags: StoreFlags): Promise<void> {
  await request(flags, 'POST', `${at(source, name)}/rotate`)
  console.log(`${name} is another secret from the next apply of ${source} on.`)
}

function at(...steps: string[]): string {
  return ['/regent/v1/secrets', ...steps.map(encodeURIComponent)].join('/')
}
