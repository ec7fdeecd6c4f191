import { login, type StoreFlags } from './connect.ts'

/** `regent token`: the token alone goes to the standard output, for `$(regent token)`. */
export async function token(flags: StoreFlags): Promise<void> {
  const server = flags.server ?? process.env.REGENT_SERVER ?? 'http://127.0.0.1:8080'
  // A server in development mode has this administrator; any other refuses, and says so.
  console.log(await login(server, { user: 'admin', password: 'admin', ...flags }))
}
