// What a source brings itself in the place of files of the machine: kept beside what is fetched, for nobody else to read.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Apart } from './git-command.ts'

/** Texts that a source brings itself: it logs in with nothing else. */
export interface Brought {
  /** For ssh: a private key, and the hosts that are known. */
  readonly ssh?: { readonly identity: string; readonly knownHosts: string } | undefined
  /** Whose signatures count, in the form of `gpg.ssh.allowedSignersFile`. */
  readonly signers?: string | undefined
}

/** Writes the texts into the folder; gives where they are. */
export async function writeBrought(folder: string, brought: Brought): Promise<Apart & { readonly signers?: string }> {
  const write = async (name: string, text: string) => {
    const file = join(folder, name)
    // Without its last line end a key is none.
    await writeFile(file, `${text.trim()}\n`, { mode: 0o600 })
    return file
  }
  const { ssh, signers } = brought
  return {
    ...(ssh && {
      ssh: {
        identity: await write('identity', ssh.identity),
        knownHosts: await write('known-hosts', ssh.knownHosts),
      },
    }),
    ...(signers !== undefined && { signers: await write('signers', signers) }),
  }
}
