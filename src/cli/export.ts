import { dump } from 'js-yaml'
import { connect, type StoreFlags } from './connect.ts'

/** `regent export`: the document alone goes to the standard output. */
export async function exportCommand(
  realm: string,
  flags: StoreFlags & { secrets?: boolean; ids?: boolean; full?: boolean; output: string },
): Promise<void> {
  const connection = await connect(flags)
  try {
    const asked = (['secrets', 'ids', 'full'] as const).filter((name) => flags[name])
    const query = new URLSearchParams(asked.map((name): [string, string] => [name, 'true']))
    const document = await connection.request('GET', `/regent/v1/export/${encodeURIComponent(realm)}?${query}`)
    process.stdout.write(
      flags.output === 'json'
        ? `${JSON.stringify(document, null, 2)}\n`
        : dump(document, { lineWidth: 120, noRefs: true }),
    )
  } finally {
    await connection.close()
  }
}
