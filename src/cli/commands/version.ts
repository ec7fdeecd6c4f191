import { API_VERSION, version } from '../../lib/version.ts'
import { connect, type StoreFlags } from '../connect.ts'
import { findCommandServer } from '../login/find-login.ts'
import { type Format, print } from '../print.ts'

/** The version of a server, in the format of the API. */
interface ServerVersion {
  readonly version: string
  readonly keycloakApi: string
}

/** `regent version`: prints the version of the command, and that of the server if one is selected. */
export async function printVersion(flags: StoreFlags & { readonly output: Format }): Promise<void> {
  const client = { version, keycloakApi: API_VERSION, node: process.versions.node }
  const url = (await findCommandServer(flags))?.server
  const server = url === undefined ? undefined : { url, ...(await readServerVersion(flags)) }
  print(
    flags.output,
    { client, ...(server && { server }) },
    {
      text: () =>
        [
          `Client: regent ${client.version}, Keycloak API ${client.keycloakApi}, Node ${client.node}`,
          ...(server ? [`Server: regent ${server.version}, Keycloak API ${server.keycloakApi}, ${server.url}`] : []),
        ].join('\n'),
    },
  )
}

async function readServerVersion(flags: StoreFlags): Promise<ServerVersion> {
  const connection = await connect(flags)
  try {
    return await connection.request<ServerVersion>('GET', '/regent/v1/version')
  } finally {
    await connection.close()
  }
}
