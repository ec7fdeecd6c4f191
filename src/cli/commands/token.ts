import { findServer, findServerOfFolder, getAccessToken, type StoreFlags, withDevelopmentAdmin } from '../connect.ts'

/** `regent token`: prints an access token and nothing else, for `$(regent token)`. */
export async function token(flags: StoreFlags): Promise<void> {
  const server = findServer(flags) ?? (await findServerOfFolder(flags)) ?? 'http://127.0.0.1:8080'
  console.log(await getAccessToken(server, withDevelopmentAdmin(flags)))
}
