import { DEVELOPMENT_ADMIN, findServerOfFolder, type StoreFlags } from '../connect.ts'
import { findCommandServer, openLogin } from '../login/find-login.ts'

/** `regent token`: prints an access token and nothing else, for `$(regent token)`. */
export async function token(flags: StoreFlags): Promise<void> {
  const commandServer = await findCommandServer(flags)
  const server = commandServer ?? { server: (await findServerOfFolder(flags)) ?? 'http://127.0.0.1:8080' }
  console.log(await openLogin(server, flags, commandServer?.context ? {} : DEVELOPMENT_ADMIN).get())
}
