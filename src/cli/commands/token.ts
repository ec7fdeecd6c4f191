import { login, orAdmin, type StoreFlags, serverOf, serverOfFolder } from '../connect.ts'

/** `regent token`: the token alone goes to the standard output, for `$(regent token)`. */
export async function token(flags: StoreFlags): Promise<void> {
  const named = serverOf(flags)
  const server = named ?? (await serverOfFolder(flags)) ?? 'http://127.0.0.1:8080'
  console.log(await login(server, orAdmin(flags)))
}
