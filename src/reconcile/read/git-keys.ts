// Keys, allowed signers and CA certificates of a git source, written to files that git and ssh read. Only the process's own account may read them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import type { KeyFiles } from './git-command.ts'

/** The keys of a git source, as texts. With them, git uses no credentials of the server's account. */
export interface GitKeys {
  /** A private key and the `known_hosts` file, for ssh. */
  readonly ssh?: { readonly identity: string; readonly knownHosts: string } | undefined
  /** The signers of commits, in the format of `gpg.ssh.allowedSignersFile`. */
  readonly signers?: string | undefined
}

/**
 * Writes the CA certificates that git accepts to a file in the folder, and returns its path: public ones, those of `NODE_EXTRA_CA_CERTS`,
 * and those of the source. Returns undefined if there are no further ones, or the server's account configures git.
 */
export async function writeAuthorities(folder: string, authorities: string | undefined): Promise<string | undefined> {
  const { GIT_SSL_CAINFO: ofGit = '', NODE_EXTRA_CA_CERTS: ofNode = '' } = process.env
  if (authorities === undefined && (ofGit !== '' || ofNode === '')) return undefined
  const file = join(folder, 'authorities.pem')
  await writeFile(
    file,
    [...getCACertificates('default'), ...(authorities === undefined ? [] : [authorities]), ''].join('\n'),
  )
  return file
}

/** Writes the keys to files in the folder and returns the paths. */
export async function writeKeyFiles(folder: string, keys: GitKeys): Promise<KeyFiles & { readonly signers?: string }> {
  const write = async (name: string, text: string) => {
    const file = join(folder, name)
    // ssh rejects a key without a final line break.
    await writeFile(file, `${text.trim()}\n`, { mode: 0o600 })
    return file
  }
  const { ssh, signers } = keys
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
