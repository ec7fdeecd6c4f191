import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { resetAdminPassword } from '../service/bootstrap.ts'
import { openService } from '../service/service.ts'
import { type StoreFlags, storeOf } from './connect.ts'
import { readKey } from './key.ts'

/** `regent admin-password`: works on the store itself, since nobody can log in. The password comes from a flag or a prompt. */
export async function adminPassword(user: string, flags: StoreFlags): Promise<void> {
  const elsewhere = flags.server ?? (flags.data || flags.database ? undefined : process.env.REGENT_SERVER)
  if (elsewhere) throw new Error('admin-password works on the store itself: name it with --data or --database')
  const at = storeOf(flags)
  const key = await readKey(at)
  const password = flags.password ?? process.env.REGENT_PASSWORD ?? (await ask(`New password of ${user}: `))
  const service = await openService({ location: at.database ? { url: at.database } : { folder: at.data }, key })
  try {
    await resetAdminPassword(service, user, password)
    console.log(`${user} of the master realm has a new password.`)
  } finally {
    await service.close()
  }
}

/** What is typed is not shown: the terminal writes nothing after the question. */
async function ask(question: string): Promise<string> {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true })
  const answer = await terminal.question('')
  terminal.close()
  process.stderr.write('\n')
  if (!answer) throw new Error('a password must not be empty')
  return answer
}
