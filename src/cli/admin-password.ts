import { createInterface } from 'node:readline/promises'
import { resetAdminPassword } from '../service/bootstrap.ts'
import { openService } from '../service/service.ts'
import type { StoreFlags } from './connect.ts'
import { readKey } from './key.ts'

/** `regent admin-password`: works on the store itself, since nobody can log in. The password comes from a flag or a prompt. */
export async function adminPassword(user: string, flags: StoreFlags): Promise<void> {
  const data = flags.data ?? process.env.REGENT_DATA ?? 'data'
  const url = flags.database ?? process.env.REGENT_DATABASE
  const key = await readKey(flags.keyFile ?? process.env.REGENT_KEY_FILE ?? `${data}/key`, false)
  const password = flags.password ?? process.env.REGENT_PASSWORD ?? (await ask(`New password of ${user}: `))
  const service = await openService({ location: url ? { url } : { folder: data }, key })
  try {
    await resetAdminPassword(service, user, password)
    console.log(`${user} of the master realm has a new password.`)
  } finally {
    await service.close()
  }
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(question)
  terminal.close()
  if (!answer) throw new Error('a password must not be empty')
  return answer
}
