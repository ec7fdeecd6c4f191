import { request, type StoreFlags } from '../connect.ts'

/** `regent get`: prints a response of the admin API as JSON. */
export async function get(path: string, flags: StoreFlags): Promise<void> {
  const response = await request(flags, 'GET', `/admin/realms/${path.replace(/^\/?(admin\/realms\/?)?/, '')}`)
  console.log(JSON.stringify(response, null, 2))
}
