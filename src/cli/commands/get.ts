import { request, type StoreFlags } from '../connect.ts'

/** `regent get`: an answer of the admin API as JSON. */
export async function get(path: string, flags: StoreFlags): Promise<void> {
  const answer = await request(flags, 'GET', `/admin/realms/${path.replace(/^\/?(admin\/realms\/?)?/, '')}`)
  console.log(JSON.stringify(answer, null, 2))
}
