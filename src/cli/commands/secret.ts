import { formatTime } from '../../reconcile/model/attribution.ts'
import type { GeneratedSecret } from '../../service/sources/generated-secrets.ts'
import { request, type StoreFlags, withConnection } from '../connect.ts'
import { type Format, printTable } from '../print.ts'
import { confirm } from '../prompt.ts'

/** Identifies a generated secret. */
interface SecretAddress {
  readonly realm: string
  readonly source: string
  readonly name: string
}

/** `regent secret list`: lists the generated secrets of a realm. */
export async function list(realm: string, flags: StoreFlags & { output: Format }): Promise<void> {
  const secrets = await request<GeneratedSecret[]>(flags, 'GET', `/regent/v1/secrets/${encodeURIComponent(realm)}`)
  printTable(flags.output, secrets, {
    head: ['Secret', 'Source', 'Created'],
    rows: secrets.map(({ name, source, createdAt }) => [name, source, formatTime(String(createdAt))]),
    none: `The realm ${realm} has no generated secrets. Declare one as $(generated:NAME).`,
    foot: `Print one with "regent secret get ${realm} <source> <name>".`,
  })
}

/** `regent secret get`: prints a secret. */
export async function get(secret: SecretAddress, flags: StoreFlags): Promise<void> {
  const { value } = await request<{ value: string }>(flags, 'GET', secretPath(secret))
  console.log(value)
}

/** `regent secret rotate`: replaces a secret at the next apply of its source. */
export async function rotate(secret: SecretAddress, flags: StoreFlags & { yes?: true }): Promise<void> {
  const { name, source, realm } = secret
  await withConnection(flags, 'fail', async (connection) => {
    await confirm(
      `The next apply of ${source} replaces the secret ${name} of the realm ${realm}. The present one is lost then.`,
      flags,
    )
    await connection.request('POST', secretPath(secret, '/rotate'))
  })
  console.log(`${name} is replaced at the next apply of ${source}.`)
}

function secretPath({ realm, source, name }: SecretAddress, action = ''): string {
  const path = `/regent/v1/secrets/${encodeURIComponent(realm)}/${encodeURIComponent(name)}${action}`
  return `${path}?${new URLSearchParams({ source })}`
}
