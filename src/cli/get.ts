import { connect, type StoreFlags } from './connect.ts'

/** `regent get`: an answer of the admin API as JSON. */
export async function get(path: string, flags: StoreFlags): Promise<void> {
  const connection = await connect(flags)
  try {
    const answer = await connection.request('GET', `/admin/realms/${path.replace(/^\/?(admin\/realms\/?)?/, '')}`)
    console.log(JSON.stringify(answer, null, 2))
  } finally {
    await connection.close()
  }
}
